"""Declarations lead to definitions, overloads by their parameters."""

from collections.abc import Callable, Mapping

from groundwire_ingest.tree.code_facts import CodeAnalysis

Analyser = Callable[[str, str], CodeAnalysis]
EdgesOf = Callable[..., dict[tuple[str, str], float]]

SHOP: Mapping[str, str] = {
    "shop/service.h": """\
#pragma once
#include "shop/data.h"

namespace shop {

// Serves.
class SHOP_EXPORT Service final : public Base, data::Closer<int> {
 public:
  explicit Service(int count) : count_(count) {}
  ~Service();
  void Run(const data::Line& line, int times = 1) override;
  void Run(const char* name);
  int count() const { return count_; }
  static Service* Make();

  struct Options {
    int limit;
  };

 private:
  int count_;
  std::unique_ptr<data::Repo> repo_;
};

template <typename T>
T* Find(T* first);

}  // namespace shop
""",
    "shop/service.cc": """\
#include "shop/service.h"

namespace shop {
namespace {
void Report(int count) {
  Print(count);
}
}  // namespace

Service::~Service() {
  Report(1);
}

void Service::Run(const data::Line& line, int times) {
  repo_->Save(line);
  this->count();
  Report(count_);
  auto other = std::make_unique<data::Repo>();
  other->Save(line);
  data::Repo third(1);
  third.Save(line);
  for (const auto& item : repo_->lines()) {
    item.Settle();
  }
  Begin();
  data::Check(line);
}

void Service::Run(const char* name) {
  Make()->count();
}

Service* Service::Make() {
  return new Service(1);
}

}  // namespace shop
""",
    "shop/data.h": """\
#pragma once

class Base {
 public:
  virtual void Run(const shop::data::Line& line, int times) = 0;
  void Begin();
};

namespace shop::data {

class Line {
 public:
  void Settle() const;
};

class Repo {
 public:
  explicit Repo(int count);
  void Save(const Line& line);
  const std::vector<Line>& lines() const;
};

void Check(const Line& line);

template <class T>
class Closer {};

}  // namespace shop::data
""",
    "shop/data.cc": """\
#include "data.h"

void Base::Begin() {
  Start();
}

using namespace shop::data;

void shop::data::Line::Settle() const {
  Check(*this);
}

namespace shop {
namespace data {
void Check(const Line& line) {
  line.Settle();
}
}  // namespace data
}  // namespace shop
""",
    "shop/service_test.cc": """\
#include "shop/service.h"

TEST(Service, Runs) {
  shop::Service service(1);
  service.Run("a");
}
""",
}


def test_nodes(analyse: Analyser) -> None:
    code = {path: text for path, text in SHOP.items() if not path.endswith(".toml")}
    analyses = [analyse(path, text) for path, text in code.items()]
    assert [item for analysis in analyses for item in analysis.file.skipped] == []
    nodes = [node for analysis in analyses for node in analysis.file.nodes]
    assert [(node.local_id, node.start_line, node.end_line, node.signature) for node in nodes] == [
        ("shop/service.h", 1, 28, ""),
        ("shop/service.h#shop.Service", 6, 23, "class SHOP_EXPORT Service final : public Base, data::Closer<int>"),
        ("shop/service.h#shop.Service.Options", 16, 18, "struct Options"),
        ("shop/service.cc", 1, 37, ""),
        ("shop/service.cc#shop.Report", 5, 7, "void Report(int count)"),
        ("shop/service.cc#shop.Service.~Service", 10, 12, "Service::~Service()"),
        ("shop/service.cc#shop.Service.Run", 14, 27, "void Service::Run(const data::Line& line, int times)"),
        ("shop/service.cc#shop.Service.Run~2", 29, 31, "void Service::Run(const char* name)"),
        ("shop/service.cc#shop.Service.Make", 33, 35, "Service* Service::Make()"),
        ("shop/data.h", 1, 28, ""),
        ("shop/data.h#Base", 3, 7, "class Base"),
        ("shop/data.h#Base.Run", 5, 5, "virtual void Run(const shop::data::Line& line, int times) = 0"),
        ("shop/data.h#shop.data.Line", 11, 14, "class Line"),
        ("shop/data.h#shop.data.Repo", 16, 21, "class Repo"),
        ("shop/data.h#shop.data.Closer", 25, 26, "class Closer"),
        ("shop/data.cc", 1, 19, ""),
        ("shop/data.cc#Base.Begin", 3, 5, "void Base::Begin()"),
        ("shop/data.cc#shop.data.Line.Settle", 9, 11, "void shop::data::Line::Settle() const"),
        ("shop/data.cc#shop.data.Check", 15, 17, "void Check(const Line& line)"),
        ("shop/service_test.cc", 1, 6, ""),
        ("shop/service_test.cc#TEST(Service, Runs)", 3, 6, "TEST(Service, Runs)"),
    ]


def test_calls(edges_of: EdgesOf) -> None:
    assert edges_of("Calls", SHOP) == {
        ("shop/data.cc#shop.data.Check", "shop/data.cc#shop.data.Line.Settle"): 0.9,
        ("shop/data.cc#shop.data.Line.Settle", "shop/data.cc#shop.data.Check"): 1.0,
        ("shop/service.cc#shop.Service.Make", "shop/service.h#shop.Service"): 0.9,
        ("shop/service.cc#shop.Service.Run", "shop/data.cc#Base.Begin"): 0.9,
        ("shop/service.cc#shop.Service.Run", "shop/data.cc#shop.data.Check"): 0.9,
        ("shop/service.cc#shop.Service.Run", "shop/data.cc#shop.data.Line.Settle"): 0.8,
        ("shop/service.cc#shop.Service.Run", "shop/data.h#shop.data.Repo"): 0.9,
        ("shop/service.cc#shop.Service.Run", "shop/service.cc#shop.Report"): 1.0,
        ("shop/service.cc#shop.Service.Run", "shop/service.h#shop.Service"): 1.0,
        ("shop/service.cc#shop.Service.Run~2", "shop/service.cc#shop.Service.Make"): 1.0,
        ("shop/service.cc#shop.Service.Run~2", "shop/service.h#shop.Service"): 0.9,
        ("shop/service.cc#shop.Service.~Service", "shop/service.cc#shop.Report"): 1.0,
        ("shop/service_test.cc#TEST(Service, Runs)", "shop/service.cc#shop.Service.Run~2"): 0.9,
        ("shop/service_test.cc#TEST(Service, Runs)", "shop/service.h#shop.Service"): 0.9,
    }


def test_imports(edges_of: EdgesOf) -> None:
    assert edges_of("Imports", SHOP) == {
        ("shop/data.cc", "shop/data.h"): 1.0,
        ("shop/service.cc", "shop/service.h"): 0.9,
        ("shop/service.h", "shop/data.h"): 0.9,
        ("shop/service_test.cc", "shop/service.h"): 0.9,
    }


def test_inherits(edges_of: EdgesOf) -> None:
    assert edges_of("Inherits", SHOP) == {
        ("shop/service.h#shop.Service", "shop/data.h#Base"): 0.9,
        ("shop/service.h#shop.Service", "shop/data.h#shop.data.Closer"): 0.9,
    }


def test_contains(edges_of: EdgesOf) -> None:
    assert edges_of("Contains", SHOP) == {
        ("shop/data.h#Base", "shop/data.cc#Base.Begin"): 1.0,
        ("shop/data.h#shop.data.Line", "shop/data.cc#shop.data.Line.Settle"): 1.0,
        ("shop/service.h#shop.Service", "shop/service.cc#shop.Service.Make"): 1.0,
        ("shop/service.h#shop.Service", "shop/service.cc#shop.Service.Run"): 1.0,
        ("shop/service.h#shop.Service", "shop/service.cc#shop.Service.Run~2"): 1.0,
        ("shop/service.h#shop.Service", "shop/service.cc#shop.Service.~Service"): 1.0,
    }


def test_implements(edges_of: EdgesOf) -> None:
    assert edges_of("Implements", SHOP) == {
        ("shop/data.cc#Base.Begin", "shop/data.h#Base"): 1.0,
        ("shop/data.cc#shop.data.Check", "shop/data.h"): 1.0,
        ("shop/data.cc#shop.data.Line.Settle", "shop/data.h#shop.data.Line"): 1.0,
        ("shop/service.cc#shop.Service.Make", "shop/service.h#shop.Service"): 1.0,
        ("shop/service.cc#shop.Service.Run", "shop/data.h#Base.Run"): 0.9,
        ("shop/service.cc#shop.Service.Run", "shop/service.h#shop.Service"): 1.0,
        ("shop/service.cc#shop.Service.Run~2", "shop/service.h#shop.Service"): 1.0,
        ("shop/service.cc#shop.Service.~Service", "shop/service.h#shop.Service"): 1.0,
    }


def test_implemented_by(edges_of: EdgesOf) -> None:
    assert edges_of("ImplementedBy", SHOP) == {
        ("shop/data.h", "shop/data.cc#shop.data.Check"): 1.0,
        ("shop/data.h#Base", "shop/data.cc#Base.Begin"): 1.0,
        ("shop/data.h#Base", "shop/service.h#shop.Service"): 0.9,
        ("shop/data.h#Base.Run", "shop/service.cc#shop.Service.Run"): 0.9,
        ("shop/data.h#shop.data.Line", "shop/data.cc#shop.data.Line.Settle"): 1.0,
        ("shop/service.h#shop.Service", "shop/service.cc#shop.Service.Make"): 1.0,
        ("shop/service.h#shop.Service", "shop/service.cc#shop.Service.Run"): 1.0,
        ("shop/service.h#shop.Service", "shop/service.cc#shop.Service.Run~2"): 1.0,
        ("shop/service.h#shop.Service", "shop/service.cc#shop.Service.~Service"): 1.0,
    }
