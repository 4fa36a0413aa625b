import { count, plural } from "../lib/format";
import type { Row } from "../lib/rows";
import { healthWord, isCalm } from "../lib/states";
import { useApp, useCursor } from "./context";
import { Glyph } from "./glyph";
import { Name } from "./name";

interface RowLabelProps {
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
const INDENT_NARROW = 6;
/** Pixels that signs and dots beside a name take; on a narrow page there are fewer of them. */
const AROUND_NAME = 68;
const AROUND_NARROW = 54;
const NARROW = 170;
/** Of one digit of the step beside a name. */
const DIGIT = 8;

export function rowId(key: string): string {
  return `row-${encodeURIComponent(key)}`;
}

/** One row of the treegrid: real text beside the painted cells. */
export function RowLabel({ row, index, top, height, width, line, words, opened }: RowLabelProps) {
  const { session, actions } = useApp();
  const active = useCursor((cursor) => cursor.row === row.key);
  const since = isCalm(row.state) || row.expanded === true || row.since === null ? null : count(row.since);
  const narrow = width < NARROW;
  const indent = (row.level - 1) * (narrow ? INDENT_NARROW : INDENT);
  const around = narrow ? AROUND_NARROW : AROUND_NAME + (since === null ? 0 : 5 + DIGIT * since.length);
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
        style={{ width: `${width}px`, paddingLeft: `${6 + indent}px` }}
        title={row.title}
      >
        {row.expanded === undefined ? (
          !narrow && <span class="twisty" />
        ) : (
          <span class={row.expanded ? "twisty open" : "twisty closed"} aria-hidden="true" />
        )}
        <Glyph of={row.state} size={12} />
        <Name text={row.label} width={width - around - indent} bold={row.kind !== "variable"} />
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
        {since !== null && (
          <span class="row-since" aria-hidden="true">
            {since}
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
