/** The rows of the heatmap: a tree of groups, layers and variables, worst first, healthy layers folded to one line. */

import { healthRank, isCalm } from "./states";

/** What the tree needs to know of a variable. */
export interface Leaf {
  readonly index: number;
  readonly name: string;
  readonly layer: string;
  readonly state: string;
  readonly since: number | null;
}

export interface LeafGroup {
  readonly name: string;
  readonly variables: readonly Leaf[];
}

export type Sort = "worst" | "model" | "name";

export interface RowOptions {
  readonly sort: Sort;
  /** Words that must all occur in the name or the layer; `state:nan` and `layer:encoder` ask for just that. */
  readonly text: string;
  /** Show only these states; empty: all. */
  readonly states: readonly string[];
  /** Keys of the rows whose folding the user has turned round. */
  readonly toggled: ReadonlySet<string>;
}

export interface Row {
  readonly kind: "group" | "layer" | "variable";
  readonly key: string;
  /** The part of the name that the rows above do not say. */
  readonly label: string;
  /** The whole name. */
  readonly title: string;
  readonly level: number;
  readonly position: number;
  readonly siblings: number;
  readonly group: string;
  /** Indices of the variables that this row shows. */
  readonly members: readonly number[];
  /** Only rows with children have it. */
  readonly expanded?: boolean;
  readonly state: string;
  readonly since: number | null;
}

export function variableKey(group: string, index: number): string {
  return `v|${group}|${index}`;
}

/** The group and index in a key made by `variableKey`, or null. */
export function parseVariableKey(key: string): { group: string; index: number } | null {
  const found = /^v\|(.*)\|(\d+)$/s.exec(key);
  return found === null ? null : { group: found[1], index: Number(found[2]) };
}

export function buildRows(groups: readonly LeafGroup[], options: RowOptions): Row[] {
  const matches = matcher(options);
  const shown = groups
    .map((group) => ({
      name: group.name,
      leaves: group.variables.filter(matches),
      twins: twins(group.variables),
    }))
    .filter((group) => group.leaves.length > 0);
  if (shown.length === 1) return layerRows(shown[0].name, shown[0].leaves, shown[0].twins, 1, options);
  const order = options.sort === "worst" ? sorted(shown, (a, b) => byWorst(a.leaves, b.leaves)) : shown;
  return order.flatMap((group, i) => {
    const worst = worstOf(group.leaves);
    const key = `g|${group.name}`;
    const expanded = !options.toggled.has(key);
    const head: Row = {
      kind: "group",
      key,
      label: group.name,
      title: group.name,
      level: 1,
      position: i + 1,
      siblings: order.length,
      group: group.name,
      members: group.leaves.map((leaf) => leaf.index),
      expanded,
      state: worst.state,
      since: worst.since,
    };
    return expanded ? [head, ...layerRows(group.name, group.leaves, group.twins, 2, options)] : [head];
  });
}

function layerRows(
  group: string,
  leaves: readonly Leaf[],
  twin: ReadonlySet<string>,
  level: number,
  options: RowOptions,
): Row[] {
  const layers = new Map<string, Leaf[]>();
  for (const leaf of leaves) {
    const members = layers.get(leaf.layer);
    if (members === undefined) layers.set(leaf.layer, [leaf]);
    else members.push(leaf);
  }
  let order = [...layers];
  if (options.sort === "worst") order = sorted(order, (a, b) => byWorst(a[1], b[1]));
  if (options.sort === "name") order = sorted(order, (a, b) => compareNames(a[0], b[0]));
  return order.flatMap(([layer, members], i) => {
    const place = { level, position: i + 1, siblings: order.length };
    if (members.length === 1) return [variableRow(group, members[0], "", twin, place)];
    const worst = worstOf(members);
    const key = `l|${group}|${layer}`;
    const searching = options.text.trim() !== "" || options.states.length > 0;
    const open = searching || !members.every((leaf) => isCalm(leaf.state));
    const expanded = open !== options.toggled.has(key);
    const head: Row = {
      kind: "layer",
      key,
      label: layer,
      title: layer,
      ...place,
      group,
      members: members.map((leaf) => leaf.index),
      expanded,
      state: worst.state,
      since: worst.since,
    };
    if (!expanded) return [head];
    const inside = orderLeaves(members, options.sort);
    return [
      head,
      ...inside.map((leaf, j) =>
        variableRow(group, leaf, layer, twin, { level: level + 1, position: j + 1, siblings: inside.length }),
      ),
    ];
  });
}

function variableRow(
  group: string,
  leaf: Leaf,
  layer: string,
  twin: ReadonlySet<string>,
  place: Pick<Row, "level" | "position" | "siblings">,
): Row {
  const number = twin.has(leaf.name) ? ` #${leaf.index}` : "";
  const short =
    layer !== "" && leaf.name.startsWith(`${layer}/`) ? leaf.name.slice(layer.length + 1) : leaf.name;
  return {
    kind: "variable",
    key: variableKey(group, leaf.index),
    label: (short || "(no name)") + number,
    title: (leaf.name || "(no name)") + number,
    ...place,
    group,
    members: [leaf.index],
    state: leaf.state,
    since: leaf.since,
  };
}

/** Keys of the variables that the rows from one to another show; of all rows if one of them is not there any more. */
export function variablesBetween(rows: readonly Row[], ends: readonly string[]): ReadonlySet<string> {
  const [a, b] = [rows.findIndex((row) => row.key === ends[0]), rows.findIndex((row) => row.key === ends[1])];
  const part = a < 0 || b < 0 ? rows : rows.slice(Math.min(a, b), Math.max(a, b) + 1);
  // The header of an unfolded layer stands for itself only: its variables have rows of their own.
  const own = part.filter((row) => row.expanded !== true);
  return new Set(
    (own.length > 0 ? own : part).flatMap((row) => row.members.map((i) => variableKey(row.group, i))),
  );
}

/** The most severe of some variables; among equals the one that is ill for longest. */
function worstOf(leaves: readonly Leaf[]): Leaf {
  return leaves.reduce((worst, leaf) => (byIllness(leaf, worst) < 0 ? leaf : worst));
}

/** Names that several variables share: those are shown with their number. */
function twins(leaves: readonly Leaf[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { name } of leaves) (seen.has(name) ? twice : seen).add(name);
  return twice;
}

function matcher({ text, states }: RowOptions): (leaf: Leaf) => boolean {
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (leaf) => {
    if (states.length > 0 && !states.includes(leaf.state)) return false;
    const name = leaf.name.toLowerCase();
    const layer = leaf.layer.toLowerCase();
    return terms.every((term) => {
      if (term.startsWith("state:")) return leaf.state.startsWith(term.slice(6));
      if (term.startsWith("layer:")) return layer.includes(term.slice(6));
      return name.includes(term) || layer.includes(term);
    });
  };
}

function orderLeaves(leaves: readonly Leaf[], sort: Sort): readonly Leaf[] {
  if (sort === "worst") return sorted(leaves, byIllness);
  if (sort === "name") return sorted(leaves, (a, b) => compareNames(a.name, b.name));
  return leaves;
}

function byWorst(a: readonly Leaf[], b: readonly Leaf[]): number {
  return byIllness(worstOf(a), worstOf(b));
}

function byIllness(a: Leaf, b: Leaf): number {
  return healthRank(a.state) - healthRank(b.state) || (a.since ?? Infinity) - (b.since ?? Infinity) || 0;
}

const collator = new Intl.Collator("en", { numeric: true });

function compareNames(a: string, b: string): number {
  return collator.compare(a, b);
}

function sorted<T>(items: readonly T[], compare: (a: T, b: T) => number): T[] {
  return [...items].sort(compare);
}
