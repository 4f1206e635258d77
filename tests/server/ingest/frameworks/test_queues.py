"""Jobs in queues of Bull and BullMQ, from the code that adds them to the code that does them."""

from collections.abc import Callable, Mapping

EdgesOf = Callable[[str, Mapping[str, str]], dict[tuple[str, str], float]]

PROCESSORS = """\
import { Processor, Process } from "@nestjs/bull";
@Processor("audio")
export class AudioProcessor {
  @Process("transcode")
  async transcode(job: Job) {
    const data = job.data;
    return data;
  }
  @Process({ name: "cut" })
  async cut(job: Job) {
    const data = job.data;
    return data;
  }
}
@Processor(QUEUES.MAIL)
export class MailProcessor extends WorkerHost {
  async process(job: Job) {
    const data = job.data;
    return data;
  }
}
"""
SENDERS = """\
import { InjectQueue } from "@nestjs/bull";
export class Orders {
  constructor(@InjectQueue("audio") private readonly audio: Queue, @InjectQueue(QUEUES.MAIL) private mail: Queue) {}
  async transcode() {
    const data = 1;
    await this.audio.add("transcode", data);
  }
  async any(name: string) {
    const data = 1;
    await this.audio.add(name, data);
  }
  async welcome() {
    const data = 1;
    await this.mail.add("welcome", data);
  }
  async other() {
    const data = 1;
    this.list.add("transcode", data);
  }
}
"""
WORKERS = """\
import { Queue, Worker } from "bullmq";
const images = new Queue("images");
export async function enqueue(id: string) {
  const data = id;
  await images.add("resize", data);
}
async function resize(job: Job) {
  const data = job.data;
  return data;
}
export const worker = new Worker("images", resize);
"""


def test_jobs_lead_to_what_does_them(edges_of: EdgesOf) -> None:
    files = {"processors.ts": PROCESSORS, "orders.ts": SENDERS, "workers.ts": WORKERS}
    assert edges_of("Sends", files) == {
        ("orders.ts#Orders.transcode", "processors.ts#AudioProcessor.transcode"): 0.8,
        ("orders.ts#Orders.any", "processors.ts#AudioProcessor.transcode"): 0.8,
        ("orders.ts#Orders.any", "processors.ts#AudioProcessor.cut"): 0.8,
        ("orders.ts#Orders.welcome", "processors.ts#MailProcessor.process"): 0.8,
        ("workers.ts#enqueue", "workers.ts#resize"): 0.8,
    }


def test_a_file_without_such_a_library_adds_no_jobs(edges_of: EdgesOf) -> None:
    senders = SENDERS.replace("@nestjs/bull", "./queues")
    assert edges_of("Sends", {"processors.ts": PROCESSORS, "orders.ts": senders}) == {}
