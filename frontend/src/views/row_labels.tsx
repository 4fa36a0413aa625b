import { count, plural, splitName } from "../lib/format";
import type { Row } from "../lib/rows";
import { healthWord } from "../lib/states";
import { useApp, useCursor } from "./context";
import { Glyph } from "./glyph";

export interface RowLabelProps {
  readonly row: Row;
  readonly index: number;
  readonly top: number;
  readonly height: number;
  readonly width: number;
  /** Colour of its line in the chart, if it has one. */
  readonly line: string | null;
  /** What the cells of the row show, in words. */
  readonly words: string;
  readonly opened: boolean;
}

const INDENT = 14;
/** Pixels that signs, dots and the step beside a name take; on a narrow page there are fewer of them. */
const AROUND_NAME = 70;
const AROUND_NARROW = 40;
const NARROW = 170;

export function rowId(key: string): string {
  return `row-${encodeURIComponent(key)}`;
}

/** One row of the treegrid: real text beside the painted cells. */
export function RowLabel({ row, index, top, height, width, line, words, opened }: RowLabelProps) {
  const { session, actions } = useApp();
  const active = useCursor((cursor) => cursor.row === row.key);
  const [head, tail] = splitName(
    row.label,
    width - (width < NARROW ? AROUND_NARROW : AROUND_NAME) - row.level * INDENT,
  );
  const ill = row.state !== "ok" && row.state !== "frozen";
  const classes = ["row", `row-${row.kind}`, active ? "row-active" : "", opened ? "row-opened" : ""];
  return (
    <div
      role="row"
      id={rowId(row.key)}
      class={classes.join(" ")}
      style={{ top: `${top}px`, height: `${height}px` }}
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-rowindex={index + 2}
      aria-expanded={row.expanded}
      aria-selected={active}
      onMouseEnter={() => session.cursor.set({ row: row.key })}
      onClick={() => actions.activate(row)}
    >
      <div
        role="rowheader"
        class="row-name"
        style={{ width: `${width}px`, paddingLeft: `${6 + (row.level - 1) * INDENT}px` }}
        title={row.title}
      >
        {row.expanded === undefined ? (
          <span class="twisty" />
        ) : (
          <span class={row.expanded ? "twisty open" : "twisty closed"} aria-hidden="true" />
        )}
        <Glyph of={row.state} size={12} />
        <span class="name">
          <span class="name-head">{head}</span>
          <span class="name-tail">{tail}</span>
        </span>
        {row.kind !== "variable" && !row.expanded && (
          <span class="row-count">{count(row.members.length)}</span>
        )}
        {row.kind === "variable" && (
          <button
            type="button"
            tabIndex={-1}
            class={line === null ? "plain line-toggle" : "plain line-toggle drawn"}
            style={line === null ? undefined : { "--line-colour": line }}
            title={line === null ? "Draw as a curve (l)" : "Take out of the curves (l)"}
            aria-label={`Draw ${row.title} as a curve`}
            aria-pressed={line !== null}
            onClick={(event) => {
              event.stopPropagation();
              actions.pick(row.key);
            }}
          />
        )}
        {ill && row.since !== null && row.expanded !== true && (
          <span class="row-since" aria-hidden="true">
            {count(row.since)}
          </span>
        )}
      </div>
      <div role="gridcell" class="sr-only">
        {healthWord(row.state)}
        {row.kind !== "variable" && `, ${plural(row.members.length, "variable")}`}
      </div>
      <div role="gridcell" class="sr-only">
        {row.since === null ? "" : `since step ${count(row.since)}`}
      </div>
      <div role="gridcell" class="sr-only">
        {words}
      </div>
    </div>
  );
}
