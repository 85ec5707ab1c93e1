# One set of warnings for everything that we write.
function(attune_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -pedantic)
endfunction()
