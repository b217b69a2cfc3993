import { darkPalette, lightPalette, type Palette } from './palette.ts'

function variables({ page, text, muted, grid, series }: Palette): string {
  const colours = series.map((colour, i) => `--s${i}:${colour}`).join(';')
  return `--page:${page};--text:${text};--muted:${muted};--grid:${grid};${colours}`
}

/** The page's only style: light, dark as the reader's system says, and light again on paper. */
export const style = `
:root{color-scheme:light dark;${variables(lightPalette)}}
@media (prefers-color-scheme:dark){:root{${variables(darkPalette)}}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:2rem 1.25rem 4rem;background:var(--page);
color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
h1{font-size:1.7rem;line-height:1.2;margin:0 0 .75rem;text-wrap:balance}
h2{font-size:1.2rem;margin:2.75rem 0 .5rem;padding-top:.75rem;border-top:1px solid var(--grid)}
p{max-width:46rem;margin:.5rem 0}
.summary{font-size:1.1rem;padding:.75rem 1rem;border-left:4px solid var(--s0);
background:color-mix(in srgb,var(--s0) 8%,var(--page))}
.provenance{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:1.25rem 0;
font-size:.85rem;color:var(--muted)}
.provenance dd{margin:0;overflow-wrap:anywhere}
.provenance code{font:.95em ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.tag{display:inline-block;padding:0 .5rem;border:1px solid currentColor;border-radius:1rem;
font-size:.8rem;color:var(--muted);vertical-align:middle}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.875rem;margin:.75rem 0}
caption,figcaption{text-align:left;font-weight:600;padding:.25rem 0;font-size:.95rem}
th,td{padding:.25rem 0 .25rem 1rem;border-bottom:1px solid var(--grid);text-align:left;
vertical-align:top}
th{color:var(--muted);font-weight:600;vertical-align:bottom;border-bottom-color:var(--muted)}
th:first-child,td:first-child{padding-left:0}
th.n,td.n{text-align:right}
td.n{white-space:nowrap}
.note{font-size:.85rem;color:var(--muted);margin:.25rem 0}
figure{margin:1.5rem 0;break-inside:avoid}
svg{display:block;width:100%;height:auto;overflow:visible;
font:12px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
svg text{fill:var(--muted);paint-order:stroke;stroke:var(--page);stroke-width:3px}
svg .name{fill:var(--text)}
.grid{stroke:var(--grid);stroke-width:1}
.axis{stroke:var(--muted);stroke-width:1}
.rule{stroke:var(--muted);stroke-width:1.25;stroke-dasharray:2 3}
.line{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
.dashed{stroke-dasharray:6 5}
.band{fill:var(--c);fill-opacity:.16}
.mark{fill:var(--c);stroke:var(--page);stroke-width:.75}
.dot{fill:var(--c);fill-opacity:.45}
.bar{fill:var(--c)}
.error{stroke:var(--text);stroke-width:1.25;fill:none}
.cell{fill:var(--s0)}
.none{fill:none;stroke:var(--grid)}
${lightPalette.series.map((_, i) => `.s${i}{--c:var(--s${i})}`).join('')}
details{font-size:.85rem}
summary{cursor:pointer;color:var(--muted)}
footer{margin-top:3rem;font-size:.8rem;color:var(--muted)}
@media print{:root{color-scheme:light;${variables(lightPalette)}}
html{font-size:13px}body{max-width:none;padding:0;font-size:1rem}
h2{break-after:avoid;margin-top:1.75rem}tr{break-inside:avoid}thead{display:table-header-group}
details{display:none}.wide{overflow:visible}table{font-size:8.5pt}
svg{max-width:17cm}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
@page{margin:16mm}
`.trim()
