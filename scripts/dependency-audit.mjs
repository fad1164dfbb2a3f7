// Asks the registry for known vulnerabilities of the packages that production installs. Exit code 1 if at least one is
// high or critical; 0 with a warning if nothing was checked, because the registry offers no audit or cannot be reached.
import { spawnSync } from 'node:child_process';

const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], { encoding: 'utf8' });
const report = parse(stdout);
if (report?.vulnerabilities) {
  const serious = Object.values(report.vulnerabilities).filter(({ severity }) =>
    /^(high|critical)$/.test(severity),
  );
  for (const { name, severity, range } of serious) console.error(`${name} ${range}: ${severity}`);
  console.error(`${serious.length} packages with high or critical vulnerabilities`);
  process.exitCode = serious.length > 0 ? 1 : 0;
} else {
  console.error('WARNING: dependencies were NOT audited: the registry offers no audit or cannot be reached');
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
