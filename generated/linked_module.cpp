#include "generated/linked_module.hpp"
#include <map>

namespace attune {
using namespace Halide;
using namespace Halide::Internal;

namespace {

/// Names the buffers that a module embeds (device code, and the state of the device API) after the module. Halide calls them
/// the same in every module; linked, all functions would find the device code of the last one.
class own_buffers final : public IRMutator {
public:
  explicit own_buffers(const Module &part) : renamed_(part.name(), part.target()) {
    for (const Buffer<> &b : part.buffers()) {
      const Buffer<> own(Runtime::Buffer<>(*b.get()), part.name() + "_" + b.name());
      own_[b.name() + ".buffer"] = own;
      renamed_.append(own);
    }
    for (LoweredFunc f : part.functions()) {
      f.body = mutate(f.body);
      renamed_.append(f);
    }
    renamed_.set_any_strict_float(part.any_strict_float());
  }
  Module renamed() const { return renamed_; }

  using IRMutator::visit;
  Expr visit(const Variable *v) override {
    const auto own = own_.find(v->name);
    return own == own_.end() ? Expr(v) : Variable::make(v->type, own->second.name() + ".buffer", own->second);
  }

private:
  Module renamed_;
  std::map<std::string, Buffer<>> own_;
};

} // namespace

Module linked_module(const std::string &name, std::vector<Module> parts) {
  if (parts.size() == 1) return parts.front();
  bool strict_float = false;
  for (Module &part : parts) {
    strict_float = strict_float || part.any_strict_float();
    if (!part.buffers().empty()) part = own_buffers(part).renamed();
  }
  Module all = link_modules(name, parts);
  all.set_any_strict_float(strict_float); // link_modules forgets it, and LLVM would then reassociate 2^x away
  return all;
}

} // namespace attune
