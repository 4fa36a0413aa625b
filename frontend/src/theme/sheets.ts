/** All the page's rules, in the order in which they are given to the browser: what is more special comes later. */

import causes from "./causes.css?inline";
import curves from "./curves.css?inline";
import heat from "./heat.css?inline";
import help from "./help.css?inline";
import incidents from "./incidents.css?inline";
import menus from "./menus.css?inline";
import page from "./page.css?inline";
import panels from "./panels.css?inline";
import rows from "./rows.css?inline";
import tokens from "./tokens.css?inline";

export const SHEETS = [tokens, page, menus, help, heat, rows, curves, panels, incidents, causes].join("\n");
