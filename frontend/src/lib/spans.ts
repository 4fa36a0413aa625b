/** Lists of indices as short text. */

/** Rising, each once, neighbours as ranges: [4, 0, 1, 2] → "0-2,4". */
export function spans(indices: Iterable<number>): string {
  const rising = [...new Set(indices)].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let i = 0; i < rising.length; i++) {
    const first = rising[i];
    while (rising[i + 1] === rising[i] + 1) i++;
    parts.push(rising[i] === first ? `${first}` : `${first}-${rising[i]}`);
  }
  return parts.join(",");
}
