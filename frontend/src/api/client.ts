/** Asking the plugin's server. Every address is below the page's own base; nothing else is ever loaded. */

import { holdForward, type Keep } from "../lib/binning";
import { DETAILED, type Metric } from "../lib/scale";
import type { StepRange } from "../lib/viewport";
import { decodeTile, type Tile } from "./tile";
import type { LinesAnswer, RankAnswer, RunAnswer, RunsAnswer, VariableAnswer } from "./types";

/** The server answered, but not with what was asked for. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** No answer: the server is gone, or the network. */
export class Unreachable extends Error {}

export interface Drawn {
  readonly run: string;
  readonly group: string;
  readonly range: StepRange;
  readonly columns: number;
  readonly metric: Metric;
  readonly replica?: number | null;
}

type Arguments = Readonly<Record<string, string | number | null | undefined>>;

export class Client {
  constructor(
    private readonly base: string,
    private readonly ask: typeof fetch = (input, init) => fetch(input, init),
  ) {}

  runs(signal: AbortSignal): Promise<RunsAnswer> {
    return this.json("runs", {}, signal);
  }

  run(run: string, signal: AbortSignal): Promise<RunAnswer> {
    return this.json("run", { run }, signal);
  }

  /** `variables`: spans of indices; null: all. */
  async tile(drawn: Drawn, keep: Keep, variables: string | null, signal: AbortSignal): Promise<Tile> {
    const response = await this.get("tile", { ...asArguments(drawn), keep, variables }, signal);
    const tile = decodeTile(await body(response.arrayBuffer()));
    if (DETAILED.includes(tile.metric)) holdForward(tile);
    return tile;
  }

  lines(drawn: Drawn, variables: readonly number[], signal: AbortSignal): Promise<LinesAnswer> {
    return this.json("lines", { ...asArguments(drawn), variables: variables.join(",") }, signal);
  }

  variable(run: string, group: string, variable: number, signal: AbortSignal): Promise<VariableAnswer> {
    return this.json("variable", { run, group, variable }, signal);
  }

  rank(run: string, group: string, range: StepRange, signal: AbortSignal): Promise<RankAnswer> {
    return this.json("rank", { run, group, ...range }, signal);
  }

  async report(run: string, signal: AbortSignal): Promise<string> {
    const response = await this.get("report", { run }, signal);
    return body(response.text());
  }

  /** Where the browser downloads the matrix as CSV. */
  tableAddress(drawn: Drawn, keep: Keep): string {
    return this.address("table", { ...asArguments(drawn), keep });
  }

  private async json<T>(route: string, args: Arguments, signal: AbortSignal): Promise<T> {
    const response = await this.get(route, args, signal);
    return body(response.json() as Promise<T>);
  }

  private address(route: string, args: Arguments): string {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(args)) {
      if (value !== null && value !== undefined) query.set(key, String(value));
    }
    const text = query.toString();
    return new URL(text ? `${route}?${text}` : route, this.base).href;
  }

  private async get(route: string, args: Arguments, signal: AbortSignal): Promise<Response> {
    const response = await body(this.ask(this.address(route, args), { signal, credentials: "same-origin" }));
    if (response.ok) return response;
    if (response.status >= 502 && response.status <= 504) throw new Unreachable(`status ${response.status}`);
    const text = (await body(response.text())).slice(0, 1000);
    const words = text.trimStart().startsWith("<") ? "" : text;
    throw new Refused(response.status, words || `The server answered with status ${response.status}.`);
  }
}

/** The answer, with the browser's many ways to say "no connection" made one. */
async function body<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof TypeError) throw new Unreachable(error.message);
    throw error;
  }
}

function asArguments({ run, group, range, columns, metric, replica }: Drawn): Arguments {
  return { run, group, first: range.first, last: range.last, columns, metric, replica };
}
