// Generates docs/command-line.md from the definitions of the program's commands.
require('./schema.cjs');
const { createCommandLineParser } = require('../../dist/cli/program.js');

let printed = '';
const nothing = () => undefined;
const program = createCommandLineParser(
  { print: (text) => (printed += `${text}\n`), printMessage: nothing },
  () => nothing,
);

/** Returns the exit codes of the program's help as one text. */
function exitCodes() {
  program.outputHelp();
  const [, ...lines] = printed.slice(printed.indexOf('Exit codes:')).split('\n\n')[0].split('\n');
  return lines.map((line) => line.trim().replace(/ +/, ' ')).join('; ');
}

const code = (text) => `\`${text.replaceAll('|', '\\|')}\``;

/** Returns a command with its arguments, as `attempts show <attempt>`. */
function usageOf(command, path) {
  const args = command.registeredArguments.map((argument) => {
    const name = argument.name() + (argument.variadic ? '...' : '');
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [...path, ...args].join(' ');
}

/** Returns one row for each command that does something itself. */
function rowsOf(command, path) {
  if (command.commands.length > 0)
    return command.commands.flatMap((each) => rowsOf(each, [...path, each.name()]));
  const options = command.options.map(({ flags }) => code(flags)).join(', ');
  return [`| ${code(usageOf(command, path))} | ${command.summary()} | ${options} |`];
}

const plugin = () => `# Command line

Made by \`npm run codegen\` from the program's own help; do not edit. \`--help\` after any command describes its arguments, options,
files and exit codes, with examples.

\`paygraph\` is \`bin/paygraph.mjs\`. In a checkout, \`npm run <command> -- …\` runs it with the project's Node.js and rebuilds
changed sources; \`npm start\` is \`paygraph start\`. An image needs \`bin\`, \`dist\`, \`package.json\` and the production
\`node_modules\`. Settings are those of the gateway ([configuration.md](configuration.md)).

| \`paygraph\` … | what it does | options |
|---|---|---|
${rowsOf(program, []).join('\n')}

Exit codes: ${exitCodes()}.
Results are printed to standard output, messages to standard error. The servers \`start\` and \`sandbox\` end with 0 after a signal and with 1 if they cannot start. Progress and colours are printed on
terminals only; \`NO_COLOR\` disables colours. A closed output (\`| head\`) does not change the exit code.

More: [doctor](doctor.md), [attempts](exactly-once.md#what-an-operator-does), [changes, reconcile](reconcile.md), [fence](exactly-once.md#when-the-journal-has-lost-attempts),
[client-key](security.md#who-may-call), [dev-token](sandbox.md#tokens-for-trying-access-rules), [audit](audit-log.md),
[persist](persisted-operations.md#making-the-manifest).
`;

module.exports = { plugin };
