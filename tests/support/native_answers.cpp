#include "tests/support/native_answers.hpp"
#include <algorithm>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace attune {
namespace {

static_assert(std::endian::native == std::endian::little, "both programs write numbers as they lie in memory");

constexpr int question_descriptor = 3;

/// What both programs must have been built and started for: the spec by its hash, the target.
std::string subject_of(const tested_kernel &kernel, target_id target) {
  return std::string(kernel.spec) + " " + kernel.info().hash + " for " + info_of(target).name;
}

/// A question is this line. An answer begins and ends with its question.
std::string question_of(const std::string &subject, const check_case &c) {
  std::ostringstream line;
  line << subject << ": " << c.batch << ' ' << c.queries << ' ' << c.keys << ' ' << static_cast<int>(c.order) << ' ' << c.seed << ' ' << c.threads << '\n';
  return line.str();
}

check_case case_in(const std::string &question, const std::string &subject) {
  check_case c;
  int order = 0;
  std::istringstream numbers(question.substr(std::min(question.size(), subject.size() + 1)));
  numbers >> c.batch >> c.queries >> c.keys >> order >> c.seed >> c.threads;
  c.order = static_cast<memory_order>(order);
  if (question_of(subject, c) != question) throw std::runtime_error("asked for \"" + question + "\", but this program answers for \"" + subject + "\"");
  return c;
}

/// The next line; empty at the end.
std::string line_from(std::FILE *from) {
  std::string line;
  for (int c; (c = std::fgetc(from)) != EOF;) {
    line += static_cast<char>(c);
    if (c == '\n') break;
  }
  return line;
}

// What an answer holds behind the call's inputs, in the order in which it travels; has_empty_row comes last.
constexpr scalar_tensor reference_answer::*tensors[] = {&reference_answer::output, &reference_answer::lse, &reference_answer::weights,
                                                       &reference_answer::scaled_scores, &reference_answer::capped_scores, &reference_answer::masked_scores};
constexpr double reference_answer::*scalars[] = {&reference_answer::largest_value, &reference_answer::largest_total, &reference_answer::largest_score};

template <class T> void put(std::FILE *to, const T *values, std::size_t count) {
  if (std::fwrite(values, sizeof(T), count, to) != count) throw std::runtime_error(std::string("an answer cannot be written: ") + std::strerror(errno));
}

/// A tensor is its rank, extents and values. One of rank 0 is not there.
void put(std::FILE *to, const scalar_tensor &t) {
  const std::int64_t rank = static_cast<std::int64_t>(t.extents.size());
  put(to, &rank, 1);
  put(to, t.extents.data(), t.extents.size());
  if (rank > 0) put(to, t.values.data(), t.values.size());
}

template <class T> void get(std::FILE *from, T *values, std::size_t count) {
  if (const std::size_t got = std::fread(values, sizeof(T), count, from); got != count)
    throw std::runtime_error("it is cut off: " + std::to_string(got) + " numbers came where " + std::to_string(count) + " were to come");
}

void get(std::FILE *from, scalar_tensor &t) {
  std::int64_t rank = 0;
  get(from, &rank, 1);
  if (rank < 0 || rank > maximum_rank) throw std::runtime_error("it has a tensor of rank " + std::to_string(rank));
  std::vector<std::int64_t> extents(static_cast<std::size_t>(rank));
  get(from, extents.data(), extents.size());
  if (rank == 0) return;
  t = scalar_tensor(extents);
  get(from, t.values.data(), t.values.size());
}

/// An input is the number of its bytes and the bytes, those of gaps too: both programs lay it out in the same way.
void put(std::FILE *to, const guarded_memory &m) {
  const std::int64_t bytes = static_cast<std::int64_t>(m.size());
  put(to, &bytes, 1);
  put(to, m.data(), m.size());
}

void get(std::FILE *from, const guarded_memory &m) {
  std::int64_t bytes = 0;
  get(from, &bytes, 1);
  if (bytes != static_cast<std::int64_t>(m.size())) throw std::runtime_error("it has an input of " + std::to_string(bytes) + " bytes where " + std::to_string(m.size()) + " belong");
  get(from, m.data(), m.size());
}

void get_line(std::FILE *from, const std::string &expected, const char *place) {
  const std::string line = line_from(from);
  if (line != expected) throw std::runtime_error(std::string("it ") + place + " with \"" + line + "\" and not with its question");
}

/// Until the program that asks ends. Returns how many questions there were.
int answer_questions(const tested_kernel &kernel, target_id target, std::FILE *questions, std::FILE *answers) {
  const std::string subject = subject_of(kernel, target);
  const reference_operator op = kernel.refer();
  const auto weights = std::make_shared<check_weights>(op.n, 1);
  int answered = 0;
  for (std::string question; !(question = line_from(questions)).empty(); ++answered) {
    const check_call call(op, case_in(question, subject), weights);
    const reference_answer answer = call.reference();
    put(answers, question.data(), question.size());
    for (const check_tensor *input : call.inputs()) put(answers, input->memory());
    for (const auto tensor : tensors) put(answers, answer.*tensor);
    for (const auto scalar : scalars) put(answers, &(answer.*scalar), 1);
    put(answers, &answer.has_empty_row, 1);
    put(answers, question.data(), question.size());
    std::fflush(answers);
  }
  return answered;
}

struct one_way {
  int from = -1, to = -1;
  one_way() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
    from = ends[0], to = ends[1];
  }
};

} // namespace

native_answers::native_answers(const tested_kernel &kernel, target_id target) : subject_(subject_of(kernel, target)), questions_(fdopen(question_descriptor, "w")) {
  if (!questions_) throw std::runtime_error("descriptor " + std::to_string(question_descriptor) + " leads to no program that answers: start this one by `kernel_check under`");
}

reference_answer native_answers::ask(check_call &call) const try {
  const std::string question = question_of(subject_, call.how());
  std::fputs(question.c_str(), questions_.get());
  std::fflush(questions_.get());
  reference_answer answer;
  get_line(stdin, question, "begins");
  for (const check_tensor *input : call.inputs()) get(stdin, input->memory());
  for (const auto tensor : tensors) get(stdin, answer.*tensor);
  for (const auto scalar : scalars) get(stdin, &(answer.*scalar), 1);
  get(stdin, &answer.has_empty_row, 1);
  get_line(stdin, question, "ends");
  return answer;
} catch (const std::exception &e) {
  throw std::runtime_error("the answer for " + subject_ + ", " + call.how().text() + " is not usable: " + e.what());
}

int run_with_answers(const tested_kernel &kernel, target_id target, const std::vector<char *> &command) {
  std::signal(SIGPIPE, SIG_IGN); // a program that reads no more is reported as a failed write
  const one_way questions, answers;
  const pid_t asking = fork();
  if (asking < 0) throw std::runtime_error(std::string("no process: ") + std::strerror(errno));
  if (asking == 0) {
    dup2(answers.from, STDIN_FILENO);
    dup2(questions.to, question_descriptor);
    execvp(command[0], command.data());
    std::fprintf(stderr, "kernel_check: %s cannot be started: %s\n", command[0], std::strerror(errno));
    _exit(1);
  }
  close(questions.to), close(answers.from);
  int answered = 0;
  {
    const file_pointer from(fdopen(questions.from, "r")), to(fdopen(answers.to, "w"));
    try {
      answered = answer_questions(kernel, target, from.get(), to.get());
    } catch (const std::exception &e) {
      std::fprintf(stderr, "kernel_check: %s\n", e.what());
    }
  }
  int status = 0;
  waitpid(asking, &status, 0);
  if (WIFSIGNALED(status)) std::fprintf(stderr, "kernel_check: %s was ended by signal %d\n", command[0], WTERMSIG(status));
  if (!WIFEXITED(status)) return 1;
  if (WEXITSTATUS(status) == 0 && answered == 0) std::fprintf(stderr, "kernel_check: %s says that all is well, and has asked nothing\n", command[0]);
  return WEXITSTATUS(status) == 0 && answered == 0 ? 1 : WEXITSTATUS(status);
}

} // namespace attune
