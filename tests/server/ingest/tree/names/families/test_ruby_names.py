"""Names by themselves are calls unless a variable has them; a module that the tree only adds to is not sure."""

from collections.abc import Callable, Mapping

from groundwire_ingest.tree.code_facts import CodeAnalysis

Analyser = Callable[[str, str], CodeAnalysis]
EdgesOf = Callable[..., dict[tuple[str, str], float]]

SHOP: Mapping[str, str] = {
    "lib/shop/service.rb": """\
require "json"
require_relative "repo"

module Shop
  # Serves.
  class Service < Base
    include Logs

    attr_reader :repo
    before_run :check, only: 1
    LIMIT = 1

    def initialize(repo, count = 1)
      @repo = Repo.new(count)
      @line = Data::Line.new
    end

    def run(*rest)
      repo.save(rest)
      @line.settle
      helper
      begin_work!
      self.class
      local = Repo.make
      local.save(1)
      rest = 2
      rest
      Outside.touch
      log "a"
      unknown.settle_all
    end

    def check; end

    def self.build
      puts 1
      new(1)
    end
  end
end

Shop::Service.new(1).run
""",
    "lib/shop/repo.rb": """\
module Shop
  class Repo
    def initialize(count)
      puts count
      puts 1
    end

    def self.make
      puts 1
      Repo.new(1)
    end

    def save(item)
      puts item
    end
  end

  class Data::Line
    def settle
      puts 1
    end

    def settle_all
      puts 1
    end
  end
end
""",
    "lib/shop/base.rb": """\
module Shop
  module Data
  end

  module Logs
    def log(text)
      puts text
    end
  end

  class Base
    def run(*rest)
      puts 1
    end

    def helper
      puts 2
    end
  end
end
""",
    "lib/shop/base_more.rb": """\
class Shop::Base
  def begin_work!
    puts 1
  end
end
""",
    "config/patch.rb": """\
module Outside
  def self.touch
    puts 1
  end
end
""",
}


def test_nodes(analyse: Analyser) -> None:
    code = {path: text for path, text in SHOP.items() if not path.endswith(".toml")}
    analyses = [analyse(path, text) for path, text in code.items()]
    assert [item for analysis in analyses for item in analysis.file.skipped] == []
    nodes = [node for analysis in analyses for node in analysis.file.nodes]
    assert [(node.local_id, node.start_line, node.end_line, node.signature) for node in nodes] == [
        ("lib/shop/service.rb", 1, 42, ""),
        ("lib/shop/service.rb#Shop", 4, 40, "module Shop"),
        ("lib/shop/service.rb#Shop.Service", 6, 39, "class Service < Base"),
        ("lib/shop/service.rb#Shop.Service.initialize", 13, 16, "def initialize(repo, count = 1)"),
        ("lib/shop/service.rb#Shop.Service.run", 18, 31, "def run(*rest)"),
        ("lib/shop/service.rb#Shop.Service.build", 35, 38, "def self.build"),
        ("lib/shop/repo.rb#Shop", 1, 27, "module Shop"),
        ("lib/shop/repo.rb#Shop.Repo", 2, 16, "class Repo"),
        ("lib/shop/repo.rb#Shop.Repo.initialize", 3, 6, "def initialize(count)"),
        ("lib/shop/repo.rb#Shop.Repo.make", 8, 11, "def self.make"),
        ("lib/shop/repo.rb#Shop.Repo.save", 13, 15, "def save(item)"),
        ("lib/shop/repo.rb#Shop.Data.Line", 18, 26, "class Data::Line"),
        ("lib/shop/repo.rb#Shop.Data.Line.settle", 19, 21, "def settle"),
        ("lib/shop/repo.rb#Shop.Data.Line.settle_all", 23, 25, "def settle_all"),
        ("lib/shop/base.rb#Shop", 1, 20, "module Shop"),
        ("lib/shop/base.rb#Shop.Data", 2, 3, "module Data end"),
        ("lib/shop/base.rb#Shop.Logs", 5, 9, "module Logs"),
        ("lib/shop/base.rb#Shop.Logs.log", 6, 8, "def log(text)"),
        ("lib/shop/base.rb#Shop.Base", 11, 19, "class Base"),
        ("lib/shop/base.rb#Shop.Base.run", 12, 14, "def run(*rest)"),
        ("lib/shop/base.rb#Shop.Base.helper", 16, 18, "def helper"),
        ("lib/shop/base_more.rb#Shop.Base", 1, 5, "class Shop::Base"),
        ("lib/shop/base_more.rb#Shop.Base.begin_work!", 2, 4, "def begin_work!"),
        ("config/patch.rb#Outside", 1, 5, "module Outside"),
        ("config/patch.rb#Outside.touch", 2, 4, "def self.touch"),
    ]


def test_calls(edges_of: EdgesOf) -> None:
    assert edges_of("Calls", SHOP) == {
        ("lib/shop/repo.rb#Shop.Repo.make", "lib/shop/repo.rb#Shop.Repo.initialize"): 1.0,
        ("lib/shop/service.rb", "lib/shop/service.rb#Shop.Service.initialize"): 1.0,
        ("lib/shop/service.rb", "lib/shop/service.rb#Shop.Service.run"): 1.0,
        ("lib/shop/service.rb#Shop.Service.initialize", "lib/shop/repo.rb#Shop.Data.Line"): 1.0,
        ("lib/shop/service.rb#Shop.Service.initialize", "lib/shop/repo.rb#Shop.Repo.initialize"): 1.0,
        ("lib/shop/service.rb#Shop.Service.run", "config/patch.rb#Outside.touch"): 0.5,
        ("lib/shop/service.rb#Shop.Service.run", "lib/shop/base.rb#Shop.Base.helper"): 0.9,
        ("lib/shop/service.rb#Shop.Service.run", "lib/shop/base.rb#Shop.Logs.log"): 0.9,
        ("lib/shop/service.rb#Shop.Service.run", "lib/shop/base_more.rb#Shop.Base.begin_work!"): 0.9,
        ("lib/shop/service.rb#Shop.Service.run", "lib/shop/repo.rb#Shop.Data.Line.settle"): 0.8,
        ("lib/shop/service.rb#Shop.Service.run", "lib/shop/repo.rb#Shop.Data.Line.settle_all"): 0.5,
        ("lib/shop/service.rb#Shop.Service.run", "lib/shop/repo.rb#Shop.Repo.make"): 1.0,
        ("lib/shop/service.rb#Shop.Service.run", "lib/shop/repo.rb#Shop.Repo.save"): 0.8,
    }


def test_imports(edges_of: EdgesOf) -> None:
    assert edges_of("Imports", SHOP) == {("lib/shop/service.rb", "lib/shop/repo.rb#Shop"): 1.0}


def test_inherits(edges_of: EdgesOf) -> None:
    assert edges_of("Inherits", SHOP) == {
        ("lib/shop/service.rb#Shop.Service", "lib/shop/base.rb#Shop.Base"): 1.0,
        ("lib/shop/service.rb#Shop.Service", "lib/shop/base.rb#Shop.Logs"): 1.0,
    }


def test_overrides(edges_of: EdgesOf) -> None:
    assert edges_of("Overrides", SHOP) == {
        ("lib/shop/service.rb#Shop.Service.run", "lib/shop/base.rb#Shop.Base.run"): 0.9
    }


def test_contains(edges_of: EdgesOf) -> None:
    assert edges_of("Contains", SHOP) == {
        ("lib/shop/base.rb#Shop", "lib/shop/base_more.rb#Shop.Base"): 1.0,
        ("lib/shop/base.rb#Shop.Data", "lib/shop/repo.rb#Shop.Data.Line"): 1.0,
    }


def test_references(edges_of: EdgesOf) -> None:
    assert edges_of("References", SHOP) == {
        ("lib/shop/repo.rb#Shop.Repo.make", "lib/shop/repo.rb#Shop.Repo"): 1.0,
        ("lib/shop/service.rb", "lib/shop/service.rb#Shop.Service"): 1.0,
        ("lib/shop/service.rb#Shop.Service", "lib/shop/base.rb#Shop.Logs"): 1.0,
        ("lib/shop/service.rb#Shop.Service.initialize", "lib/shop/repo.rb#Shop.Data.Line"): 1.0,
        ("lib/shop/service.rb#Shop.Service.initialize", "lib/shop/repo.rb#Shop.Repo"): 1.0,
        ("lib/shop/service.rb#Shop.Service.run", "config/patch.rb#Outside"): 0.5,
        ("lib/shop/service.rb#Shop.Service.run", "lib/shop/repo.rb#Shop.Repo"): 1.0,
    }
