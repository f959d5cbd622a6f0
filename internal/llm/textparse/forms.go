package textparse

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
)

type form struct {
	opens  []string // opening marks
	closes []string // where to check for completeness; one that is also in opens begins the next block
	// balanced: check where all brackets are closed. line: needs its own line. weak: only space and
	// other blocks may follow. bare: no marks beside the call's own.
	balanced, line, weak, bare bool
	// read judges a block; if nil, the text between the marks is read as calls. It must not change
	// its mind about a block that it has rejected or accepted.
	read func(s *scanner, held string) blockResult
}

// verdict is a form's decision about a block.
type verdict int

const (
	wait verdict = iota // incomplete
	no                  // text
	yes                 // calls
)

// blockResult is the result of reading a block; its last rest bytes belong to the next one.
type blockResult struct {
	verdict   verdict
	calls     []blockCall
	reasoning string
	rest      int
}

// forms returns the syntaxes by model family.
func forms() []form {
	list := []form{
		{opens: []string{"<tool_call>"}, closes: []string{"</tool_call>", "<tool_call>"}}, // Hermes, Qwen, GLM
		{opens: []string{"<function="}, closes: []string{"</function>"}, bare: true},      // Qwen-coder
		{opens: []string{"[TOOL_CALLS]"}, balanced: true},                                 // Mistral
		{opens: []string{"<|python_tag|>"}, balanced: true},                               // Llama 3
		{opens: []string{"<|python_start|>"}, closes: []string{"<|python_end|>"}},         // Llama 4
		{opens: sectionOpens(), closes: sectionCloses(), read: readSections},              // DeepSeek, Kimi
		{opens: []string{"<|channel|>", "<|start|>"}, closes: harmonyEnds(), read: readHarmony},
		{opens: []string{leakedHeader}, line: true, balanced: true, read: readHarmony},
		{opens: []string{"```"}, line: true, weak: true, closes: []string{"```"}, read: readFence},
		{opens: []string{"{", "["}, line: true, weak: true, balanced: true, bare: true}, // Llama
	}
	for _, mark := range []string{"｜DSML｜", "|DSML|", ""} { // DeepSeek since V3.2; without a mark Claude's, used in training other models
		for _, outer := range []string{"function_calls>", "tool_calls>"} {
			list = append(list, form{opens: []string{"<" + mark + outer}, closes: []string{"</" + mark + outer}})
		}
		list = append(list, form{opens: []string{"<" + mark + "invoke name="}, closes: []string{"</" + mark + "invoke>"}, bare: true})
	}
	for _, mark := range strays() {
		list = append(list, form{opens: []string{mark}, closes: []string{mark}, read: stray})
	}
	return list
}

// strays are marks without meaning after other markup: ends without their beginning, and
// end-of-message tokens, which some servers print.
func strays() []string {
	return slices.Concat([]string{"</tool_call>", "</tool_calls>", "</function_calls>", "<|end|>", "<|return|>", "<|call|>", "<|python_end|>"}, sectionCloses(), endTokens())
}

func endTokens() []string {
	return []string{"<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|eom|>", "<|eot|>", "<|endoftext|>", "<|end_of_text|>", "</s>",
		"<｜end▁of▁sentence｜>", "<|observation|>", "<|user|>"}
}

// stray skips an end mark without a beginning after other markup; otherwise it is text.
func stray(s *scanner, _ string) blockResult {
	if len(s.blocks) > 0 {
		return blockResult{verdict: yes}
	}
	return blockResult{verdict: no}
}

// ends reports whether a block may be complete here.
func (f *form) ends(held []byte, b balance) bool {
	if f.balanced && b.closed() {
		return f.begun(held)
	}
	last := held[len(held)-1]
	return slices.ContainsFunc(f.closes, func(c string) bool {
		return c[len(c)-1] == last && bytes.HasSuffix(held, []byte(c))
	}) && f.begun(held)
}

// begun reports whether the whole opening mark has arrived.
func (f *form) begun(held []byte) bool {
	return slices.ContainsFunc(f.opens, func(o string) bool { return bytes.HasPrefix(held, []byte(o)) })
}

// between strips a block's marks. rest is the next block's beginning.
func (f *form) between(held string) (body string, rest int, closed bool) {
	body = held
	for _, open := range f.opens {
		body = strings.TrimPrefix(body, open)
	}
	for _, end := range f.closes {
		if inner, ok := strings.CutSuffix(body, end); ok && slices.Contains(f.opens, end) {
			return strings.TrimSpace(inner), len(end), false
		} else if ok {
			return strings.TrimSpace(inner), 0, true
		}
	}
	return strings.TrimSpace(body), 0, false
}

// marked reads calls between marks. The closing mark may be missing if the content is complete by
// itself: servers do not print a model's stop token.
func (f *form) marked(s *scanner, held string) blockResult {
	body, rest, closed := held, 0, true
	if !f.bare {
		body, rest, closed = f.between(held)
	}
	switch {
	case body == "" && (closed || rest > 0) && !f.balanced:
		return blockResult{verdict: no, rest: rest}
	case body == "", f.balanced && body == leadingName(body), !closed && rest == 0 && !f.balanced && (!s.ended || !delimited(body)), !closed && rest > 0 && !delimited(body):
		return blockResult{verdict: s.atEnd(no), rest: rest}
	}
	calls, ok := s.body(body, f.weak)
	r := s.orWait(s.all(calls, ok))
	r.rest = rest
	return r
}

// delimited reports whether text marks its own end.
func delimited(body string) bool {
	return strings.ContainsRune("{[`", rune(body[0])) || strings.HasPrefix(body, "<") && !strings.HasPrefix(body, "<arg_")
}

// body reads calls in any syntax, to the end of the text. strict accepts nothing else, and all must
// be readable.
func (s *scanner) body(body string, strict bool) (calls []blockCall, ok bool) {
	body = strings.TrimSpace(body)
	word := leadingName(body)
	switch {
	case body == "":
		return nil, false
	case strings.HasPrefix(body, "```"):
		inner, closed := strings.CutSuffix(body[3:], "```")
		_, inner, _ = strings.Cut(inner, "\n")
		if !closed || strings.HasPrefix(strings.TrimSpace(inner), "```") {
			return nil, false
		}
		return s.body(inner, strict)
	case body[0] == '<':
		return s.tags(body)
	case body[0] == '{' || body[0] == '[':
		calls, rest, ok := objects(body, strict)
		if ok && strings.TrimSpace(rest) == "" {
			return calls, true
		}
		return pythonic(body)
	case strings.HasPrefix(strings.TrimLeft(body[len(word):], " "), "("):
		return pythonic(body)
	case strings.HasPrefix(strings.TrimLeft(body[len(word):], space), "<arg_key>"), body == word:
		return s.tags(body)
	}
	f, ok := named(body)
	return []blockCall{f}, ok
}

func leadingName(text string) string {
	p := python{text}
	return p.word(true)
}

// named reads a name and an argument object, such as Mistral's NAME[CALL_ID]9[ARGS]{…}.
func named(text string) (blockCall, bool) {
	at := strings.IndexByte(text, '{')
	if at <= 0 || span(text, at) != len(text) {
		return blockCall{}, false
	}
	head, _, _ := strings.Cut(text[:at], "[CALL_ID]")
	return blockCall{strings.Trim(strings.TrimSuffix(strings.TrimSpace(head), "[ARGS]"), space+":"), text[at:]}, true
}

// orWait keeps reading a rejected block whose closing mark may be inside a value.
func (s *scanner) orWait(r blockResult) blockResult {
	if r.verdict == no {
		r.verdict = s.atEnd(no)
	}
	return r
}

// atEnd returns v at the end of the message, and wait before it.
func (s *scanner) atEnd(v verdict) verdict {
	if s.ended {
		return v
	}
	return wait
}

func languages() []string { return []string{"", "json", "tool_call", "tool_calls"} }

// readFence reads a fence with nothing but calls.
func readFence(s *scanner, held string) blockResult {
	body, open := strings.CutSuffix(held[3:], "```")
	_, body, _ = strings.Cut(body, "\n")
	body = strings.TrimSpace(body)
	if !open || body == "" {
		return blockResult{verdict: s.atEnd(no)}
	}
	calls, rest, ok := objects(body, true)
	return s.orWait(s.all(calls, ok && rest == ""))
}

// probe returns false if the text after the opening mark cannot become an offered tool's call.
func (f *form) probe(s *scanner, open, rest string) bool {
	if f.bare {
		rest = open + rest
	}
	trimmed := strings.TrimLeft(rest, space)
	switch {
	case open == "```":
		return s.probeFence(rest)
	case f.read != nil || trimmed == "":
		return true
	case strings.ContainsRune("{[`", rune(trimmed[0])):
		return !f.weak || s.probeValue(trimmed)
	case trimmed[0] == '<':
		return true
	}
	return s.probeName(trimmed)
}

// probeFence checks a fence's language and the beginning of its content.
func (s *scanner) probeFence(rest string) bool {
	language, body, whole := strings.Cut(rest, "\n")
	language = strings.TrimRight(language, " \r")
	if !whole {
		return slices.ContainsFunc(languages(), func(l string) bool { return strings.HasPrefix(l, language) })
	}
	body = strings.TrimLeft(body, space)
	switch {
	case !slices.Contains(languages(), language):
		return false
	case body == "":
		return true
	}
	return (body[0] == '{' || body[0] == '[') && s.probeValue(body)
}

// probeName checks the beginning of a name and the text after it.
func (s *scanner) probeName(text string) bool {
	name := leadingName(text)
	after := text[len(name):]
	if i := strings.LastIndexByte(name, '.'); i > 0 && strings.HasPrefix(".call", name[i:]) { // Llama's NAME.call(
		name = name[:i]
	}
	return after == "" && s.tools.starts(name) || s.tools.named(name) != nil
}

// probeValue checks the beginning of an object, or of a list with objects or calls.
func (s *scanner) probeValue(text string) bool {
	list := text[0] == '['
	rest := strings.TrimLeft(text[1:], space)
	switch {
	case rest == "":
		return true
	case list && rest[0] == '{':
		return s.probeObject(strings.TrimLeft(rest[1:], space))
	case list:
		name := leadingName(rest)
		return s.probeName(rest) && (name == rest || strings.HasPrefix(rest[len(name):], "("))
	}
	return s.probeObject(rest)
}

// probeObject checks an object's first key, and the value if the key is the name.
func (s *scanner) probeObject(rest string) bool {
	if rest == "" {
		return true
	}
	if rest[0] != '"' && rest[0] != '\'' {
		return false
	}
	key, after, whole := quoted(rest)
	if !whole {
		return keyStarts(rest[1:])
	}
	after = strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(after, space), ":"), space)
	switch {
	case !keyStarts(key):
		return false
	case !slices.Contains(nameKeys(), key) || after == "" || after[0] == '{':
		return true
	}
	name, _, whole := quoted(after)
	if whole {
		return s.tools.named(name) != nil
	}
	return (after[0] == '"' || after[0] == '\'') && s.tools.starts(after[1:])
}

// keyStarts reports whether prefix begins a key of a call.
func keyStarts(prefix string) bool {
	return slices.ContainsFunc(slices.Concat(nameKeys(), argsKeys(), sideKeys(), []string{"tool_call", "tool_calls", "function_call"}),
		func(key string) bool { return strings.HasPrefix(key, prefix) })
}

// spelled returns all spellings of a mark. DeepSeek and Kimi write sections of calls, each BEGIN
// head SEPARATOR arguments END. Converted models write the separators in DeepSeek's marks in plain
// letters, with spaces or with a backslash.
func spelled(mark string) (out []string) {
	for _, joint := range []string{"▁", "_", " ", `\_`} {
		text := strings.ReplaceAll(mark, "▁", joint)
		out = append(out, "<｜"+text+"｜>", "<|"+text+"|>")
	}
	return out
}

func sectionOpens() []string {
	return append(slices.Concat(spelled("tool▁calls▁begin"), spelled("tool▁call▁begin")), "<|tool_calls_section_begin|>", "<|tool_call_section_begin|>")
}

func sectionCloses() []string {
	return append(slices.Concat(spelled("tool▁calls▁end"), spelled("tool▁call▁end")), "<|tool_calls_section_end|>", "<|tool_call_section_end|>")
}

// sectionMarks match the marks of a section and its calls.
var sectionMarks = sync.OnceValue(func() [3]*regexp.Regexp {
	const j = `(?:▁|_| |\\_)`
	return [3]*regexp.Regexp{
		regexp.MustCompile(`^<[｜|]tool` + j + `calls?(?:_section)?` + j + `begin[｜|]>`),
		regexp.MustCompile(`^\s*<[｜|]tool` + j + `call` + j + `begin[｜|]>([^<]*)<[｜|](?:tool` + j + `sep|tool_call_argument_begin)[｜|]>\s*`),
		regexp.MustCompile(`^\s*<[｜|]tool` + j + `call` + j + `end[｜|]>`),
	}
})

// readSections reads a section's calls. Without outer marks, one call is the block; an outer end
// mark may be missing at the end of the message.
func readSections(s *scanner, held string) blockResult {
	marks, body, outer := sectionMarks(), held, false
	if m := marks[0].FindString(body); m != "" && marks[1].FindString(body) == "" {
		body, outer = body[len(m):], true
	}
	closed := !outer
	for _, end := range sectionCloses() {
		if inner, ok := strings.CutSuffix(body, end); ok && outer && marks[2].FindString(end) == "" {
			body, closed = inner, true
		}
	}
	if !closed && !s.ended {
		return blockResult{}
	}
	var calls []blockCall
	for strings.TrimSpace(body) != "" {
		f, rest, ok := section(body)
		if !ok {
			return blockResult{verdict: s.atEnd(no)}
		}
		calls, body = append(calls, f), rest
	}
	return s.orWait(s.all(calls, true))
}

// section reads one call. The head is functions.NAME:0, NAME, or function with the name on the
// body's first line and the arguments in a fence.
func section(text string) (f blockCall, rest string, ok bool) {
	m := sectionMarks()[1].FindStringSubmatch(text)
	if m == nil {
		return f, text, false
	}
	body := text[len(m[0]):]
	f.name, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(m[1]), "functions."), ":")
	if f.name == "function" {
		f.name, body, _ = strings.Cut(body, "\n")
		f.name = strings.TrimSpace(f.name)
	}
	body = strings.TrimLeft(body, space)
	body, fenced := strings.CutPrefix(body, "```json")
	body = strings.TrimLeft(body, space)
	end := span(body, 0)
	if !strings.HasPrefix(body, "{") || end < 0 {
		return f, body, false
	}
	f.arguments, body = body[:end], body[end:]
	if fenced {
		body, ok = strings.CutPrefix(strings.TrimLeft(body, space), "```")
	}
	close := sectionMarks()[2].FindString(body)
	return f, body[len(close):], close != "" && ok == fenced
}

// leakedHeader begins a harmony call without its tokens, dropped by a server: commentary
// to=functions.NAME json{…}.
const leakedHeader = "commentary to=functions."

// harmonyEnds are the marks that end a channel or its header.
func harmonyEnds() []string {
	return []string{"<|message|>", "<|end|>", "<|call|>", "<|return|>", "<|start|>", "<|channel|>"}
}

// readHarmony reads one channel: thinking, a call, or a text header.
func readHarmony(s *scanner, held string) blockResult {
	header, body, ok := strings.Cut(held, "<|message|>")
	if strings.HasPrefix(held, leakedHeader) {
		header, body, ok = strings.Cut(held, "{")
		body = "{" + body
		header = strings.TrimSuffix(header, "json")
	}
	if !ok {
		return blockResult{verdict: s.atEnd(no)}
	}
	before, after, _ := strings.Cut(header, "<|channel|>")
	channel, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	channel, _, _ = strings.Cut(channel, "<")
	to := recipient(before + " " + after)
	if to == "" && (channel == "final" || channel == "commentary") {
		return blockResult{verdict: yes, rest: len(body)}
	}
	body, rest, ended := channelEnd(body)
	switch {
	case to != "":
		text := strings.TrimSpace(body)
		if !strings.HasPrefix(text, "{") || span(text, 0) != len(text) {
			return blockResult{verdict: s.atEnd(no)}
		}
		if !ended && !s.ended && !strings.HasPrefix(held, leakedHeader) {
			return blockResult{verdict: wait}
		}
		r := s.all([]blockCall{{to, text}}, true)
		r.rest = rest
		return r
	case channel == "analysis" && (ended || s.ended):
		return blockResult{verdict: yes, reasoning: body, rest: rest}
	case channel != "analysis":
		return blockResult{verdict: no, rest: len(body)}
	}
	return blockResult{}
}

// recipient returns the function that a header names.
func recipient(header string) string {
	_, to, ok := strings.Cut(header, "to=")
	if !ok {
		return ""
	}
	end := strings.IndexAny(to, " <\t\r\n")
	if end < 0 {
		end = len(to)
	}
	return strings.TrimPrefix(to[:end], "functions.")
}

// channelEnd cuts off the mark that ends a channel; one that begins the next stays in rest.
func channelEnd(body string) (text string, rest int, ended bool) {
	for _, mark := range harmonyEnds()[1:] {
		if text, ok := strings.CutSuffix(body, mark); ok && (mark == "<|start|>" || mark == "<|channel|>") {
			return text, len(mark), true
		} else if ok {
			return text, 0, true
		}
	}
	return body, 0, false
}
