"""Jobs by the names of their classes, and the routes of Laravel."""

from collections.abc import Callable

from groundwire_ingest.records import SourceEdge

Resolver = Callable[..., list[object]]


def _edges(resolved: Resolver, files: dict[str, str], *types: str) -> set[tuple[str, str, str, float]]:
    return {
        (edge.from_key.partition("#")[2], edge.edge_type, edge.to_key.partition("#")[2], edge.confidence)
        for edge in resolved(files)
        if isinstance(edge, SourceEdge) and edge.edge_type in types
    }


def test_a_job_of_rails_is_sent_to_its_perform(resolved: Resolver) -> None:
    files = {
        "app/jobs/sync_job.rb": "class SyncJob < ApplicationJob\n  def perform(id)\n    run(id)\n  end\nend\n",
        "app/jobs/admin/clean_job.rb": """\
module Admin
  class CleanJob
    include Sidekiq::Job
    def perform
      clean
    end
  end
end
""",
        "app/models/order.rb": """\
class Order
  def sync
    SyncJob.perform_later(id)
  end

  def later
    SyncJob.set(wait: 5).perform_later(id)
  end

  def clean
    Admin::CleanJob.perform_async
  end

  def other(job)
    job.perform_later(id)
  end
end
""",
    }
    assert _edges(resolved, files, "Sends") == {
        ("Order.sync", "Sends", "SyncJob.perform", 0.8),
        ("Order.later", "Sends", "SyncJob.perform", 0.8),
        ("Order.clean", "Sends", "Admin.CleanJob.perform", 0.8),
    }


def test_a_job_of_laravel_is_sent_to_its_handle(resolved: Resolver) -> None:
    files = {
        "app/Jobs/SendMail.php": """\
<?php
namespace App\\Jobs;
class SendMail {
    public function handle(): void {
        $this->send();
        $this->log();
    }
}
""",
        "app/Orders.php": """\
<?php
namespace App;
use App\\Jobs\\SendMail;
class Orders {
    public function pay($id) {
        $this->save($id);
        SendMail::dispatch($id)->onQueue('mail');
    }
}
""",
    }
    assert _edges(resolved, files, "Sends") == {("App.Orders.pay", "Sends", "App.Jobs.SendMail.handle", 0.8)}


def test_routes_of_laravel_lead_to_their_controllers(resolved: Resolver) -> None:
    files = {
        "app/Http/UserController.php": """\
<?php
namespace App\\Http;
class UserController {
    public function show($id) { $this->check($id); return view($id); }
    public function index() { $this->check(1); return view('all'); }
    public function store() { $this->check(2); return view('new'); }
}
""",
        "routes/web.php": """\
<?php
use App\\Http\\UserController;
Route::prefix('admin')->group(function () {
    Route::get('/users/{id}', [UserController::class, 'show'])->name('users.show');
});
Route::group(['prefix' => 'v2'], function () { Route::post('users', [UserController::class, 'store']); });
Route::controller(UserController::class)->group(function () { Route::get('/all', 'index'); });
Route::get('/closure', function () { return 1; });
$cache->get('/users', [UserController::class, 'show']);
""",
        "web/client.ts": """\
export async function load() { await fetch("/admin/users/7"); }
export async function add() { await fetch("/v2/users", { method: "POST" }); }
export async function all() { await fetch("/all"); }
""",
    }
    assert _edges(resolved, files, "Requests") == {
        ("load", "Requests", "App.Http.UserController.show", 0.9),
        ("add", "Requests", "App.Http.UserController.store", 0.9),
        ("all", "Requests", "App.Http.UserController.index", 0.9),
    }
    assert {edge[2] for edge in _edges(resolved, files, "Routes")} == {
        "App.Http.UserController.show",
        "App.Http.UserController.store",
        "App.Http.UserController.index",
    }


def test_names_of_routes_of_laravel_lead_to_their_methods(resolved: Resolver) -> None:
    files = {
        "app/Http/UserController.php": """\
<?php
namespace App\\Http;
class UserController {
    public function show($id) { $this->check($id); return redirect()->route('admin.users.index'); }
    public function index() { $this->check(1); return to_route('users.show', 1); }
    public function edit($id) { $this->check(2); return route('missing.show'); }
}
""",
        "routes/web.php": """\
<?php
use App\\Http\\UserController;
Route::get('/users/{id}', [UserController::class, 'show'])->middleware('auth')->name('users.show');
Route::name('admin.')->prefix('admin')->group(function () {
    Route::resource('users', UserController::class)->only(['index', 'edit']);
});
""",
        "web/client.ts": """\
export function edit(id: number) { const n = id; return visit(route("admin.users.edit", n)); }
""",
    }
    start = "App.Http.UserController"
    assert _edges(resolved, files, "Requests") == {
        (f"{start}.show", "Requests", f"{start}.index", 0.9),
        (f"{start}.index", "Requests", f"{start}.show", 0.9),
        ("edit", "Requests", f"{start}.edit", 0.9),
    }
