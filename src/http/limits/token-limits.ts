import { GraphQLError, Lexer, Source, TokenKind, type Token } from 'graphql';
import { nameHoldsSchemeNumber } from '../../redaction/pan';
import { assertLimit, DOCUMENT_RULES } from './limits';

const OPENING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/**
 * The limits that must be checked before anything parses, because parsing calls itself for every bracket.
 * @returns whether the text consists of tokens at all; what is wrong otherwise is the parser's to say
 * @throws LimitExceeded
 */
export function checkText(text: string): boolean {
  assertLimit('characters', text.length);
  checkLines(text);
  try {
    checkTokens(new Lexer(new Source(text)));
    return true;
  } catch (error) {
    if (error instanceof GraphQLError) return false;
    throw error;
  }
}

function checkLines(text: string): void {
  // As graphql-js counts them.
  const lineEnd = /\r\n|[\n\r]/g;
  let lines = 1;
  while (lines <= DOCUMENT_RULES.lines.limit && lineEnd.exec(text)) lines += 1;
  assertLimit('lines', lines);
}

function checkName({ start, end, value }: Token): void {
  assertLimit('name', end - start);
  // Few names are long enough, and fewer hold a digit.
  if (end - start >= 12 && nameHoldsSchemeNumber(value)) assertLimit('cardNumbers', 1);
}

function checkTokens(lexer: Lexer): void {
  let tokens = 0;
  let open = 0;
  for (let token: Token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    tokens += 1;
    assertLimit('tokens', tokens);
    if (token.kind === TokenKind.NAME) checkName(token);
    if (OPENING.has(token.kind)) open += 1;
    if (CLOSING.has(token.kind)) open -= 1;
    assertLimit('nesting', open);
  }
}
