import { describe, expect, it, vi } from "vitest";
import { type Need, Slots } from "../src/store/slots";

interface Asked {
  readonly key: string;
  readonly signal: AbortSignal;
  readonly answer: (value: unknown) => Promise<void>;
  readonly fail: (error: Error) => Promise<void>;
}

function world(onFailure: (error: Error) => void = () => {}) {
  const slots = new Slots(onFailure);
  const asked: Asked[] = [];
  const need = (id: string, key: string, patience = 0): Need => ({
    id,
    key,
    patience,
    load: (signal) =>
      new Promise((resolve, reject) => {
        const soon = (act: () => void) => {
          act();
          return new Promise<void>((done) => setTimeout(done, 0));
        };
        asked.push({
          key,
          signal,
          answer: (v) => soon(() => resolve(v)),
          fail: (e) => soon(() => reject(e)),
        });
      }),
  });
  const sync = async (...needs: Need[]) => {
    slots.sync(needs);
    await new Promise((done) => setTimeout(done, 0));
  };
  return { slots, asked, need, sync };
}

describe("Slots", () => {
  it("asks once for what is needed, and keeps it as long as it is", async () => {
    const { slots, asked, need, sync } = world();
    await sync(need("a", "1"));
    await sync(need("a", "1"));
    await asked[0].answer("one");
    await sync(need("a", "1"));
    expect(asked).toHaveLength(1);
    expect([slots.value("a"), slots.settled("a"), slots.idle()]).toEqual(["one", true, true]);
  });

  it("shows the old answer until the new one is there", async () => {
    const { slots, asked, need, sync } = world();
    await sync(need("a", "1"));
    await asked[0].answer("one");
    await sync(need("a", "2"));
    expect([slots.value("a"), slots.settled("a")]).toEqual(["one", false]);
    await asked[1].answer("two");
    expect([slots.value("a"), slots.settled("a")]).toEqual(["two", true]);
  });

  it("stops a request that nobody waits for any more, and ignores its answer", async () => {
    const { slots, asked, need, sync } = world();
    await sync(need("a", "1"));
    await sync(need("a", "2"));
    expect(asked[0].signal.aborted).toBe(true);
    await asked[1].answer("two");
    await asked[0].answer("one, late");
    expect(slots.value("a")).toBe("two");
  });

  it("forgets what is not needed", async () => {
    const { slots, asked, need, sync } = world();
    await sync(need("a", "1"), need("b", "1"));
    await asked[0].answer("one");
    await sync(need("b", "1"));
    expect(slots.value("a")).toBeNull();
  });

  it("while the user is still moving asks for nothing but where he comes to rest", async () => {
    vi.useFakeTimers();
    const { asked, need, slots } = world();
    slots.sync([need("a", "0", 50)]);
    await vi.advanceTimersByTimeAsync(0);
    void asked[0].answer("zero");
    await vi.advanceTimersByTimeAsync(1);
    for (let i = 1; i <= 10; i++) {
      slots.sync([need("a", String(i), 50)]);
      await vi.advanceTimersByTimeAsync(10);
    }
    await vi.advanceTimersByTimeAsync(100);
    expect(asked.map((one) => one.key)).toEqual(["0", "10"]);
    vi.useRealTimers();
  });

  it("keeps the last good answer beside an error, and asks again when told to", async () => {
    const errors: Error[] = [];
    const { slots, asked, need, sync } = world((error) => errors.push(error));
    await sync(need("a", "1"));
    await asked[0].answer("one");
    await sync(need("a", "2"));
    await asked[1].fail(new Error("gone"));
    expect([slots.value("a"), slots.error("a")?.message, errors.length]).toEqual(["one", "gone", 1]);
    slots.retry([need("a", "2")]);
    await new Promise((done) => setTimeout(done, 0));
    await asked[2].answer("two");
    expect([slots.value("a"), slots.error("a")]).toEqual(["two", null]);
  });
});
