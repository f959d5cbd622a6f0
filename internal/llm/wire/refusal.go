package wire

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"adze/session"
	"adze/tool"
)

// Refusal is the whole of what a server says about a request that it does not take, where a
// message for the user holds a part of it.
type Refusal struct {
	Status            int
	Failed            session.ErrorKind // as it was sorted
	Kind, Code, Param string            // as the server names them
	Text              string            // all of its words; in an error in lower case, without the key
	wrote             string            // by the model, where the server could not read a call in it
}

// Error implements error.
func (r *Refusal) Error() string { return r.Text }

// refusalOf finds the refusal in an error; if nil, no change of the request could mend it.
func refusalOf(err error) *Refusal {
	var failure *session.ProviderError
	if !errors.As(err, &failure) || failure.Stumble != "" {
		return nil
	}
	var r *Refusal
	if !errors.As(failure.Err, &r) {
		r = &Refusal{Status: failure.Status, Failed: failure.Kind, Text: strings.ToLower(failure.Message)}
	}
	switch failure.Kind {
	case session.RequestError, session.ContextError, session.ServerError, session.NoModelError:
		return r
	}
	return nil
}

// vague reports a refusal that gives no reason, or whose words fit any.
func (r *Refusal) vague() bool {
	return (r.Status == http.StatusBadRequest || r.Status == http.StatusUnprocessableEntity || r.Status == http.StatusUnsupportedMediaType) &&
		(len(r.Text) < 12 || has(r.Text, "invalid argument", "invalid request", "bad request", "provider returned error", "malformed", "validation error", "unprocessable"))
}

func (r *Refusal) says(words ...string) bool { return has(r.Text+" "+r.Param+" "+r.Code, words...) }

// matches reports words that stand in this order, for phrases with names between.
func (r *Refusal) matches(pattern string) bool {
	return regexp.MustCompile(pattern).MatchString(r.Text)
}

// NoTools reports whether a server says of a model that it takes no tools at all: not of one tool,
// its schema or the choice among them. The wordings are those of Ollama, vLLM, llama.cpp,
// OpenRouter, Groq, Gemini and DeepSeek.
func NoTools(err error) bool {
	r := refusalOf(err)
	if r == nil || r.aboutSchema() || r.says("tool_choice", "tool choice") && !r.says("enable-auto-tool-choice") || r.says("without `tools", "without tools") {
		return false
	}
	return r.matches(`(does not|doesn't|do not|don't) support (the use of |using )?(tools?|function|tool[- ]call)`) ||
		r.matches("(tool calling|tool use|tools|function calling)`? (is|are) not (supported|enabled)") ||
		r.says("that support tool use", "enable-auto-tool-choice", "tools param requires", "requires --jinja")
}

// aboutSchema reports words about a tool's schema or name.
func (r *Refusal) aboutSchema() bool {
	return r.says("input_schema", "inputschema", "function_declaration", "functiondeclaration", "toolspec", "property keys",
		"invalid_function_parameters", "schema for function", "schema for tool", "function parameters", "parameters schema", "tool schema") ||
		r.says("schema") && r.says("tool", "function") || r.matches(`\btools[.\[]\d|['"]tools['"], ?\d`) || strings.HasPrefix(r.Param, "tools")
}

// tools are the names of the offered tools that the words are about; none: they name none.
func (r *Refusal) tools(offered []tool.Definition) (names []string) {
	for _, at := range r.places() {
		if at >= 0 && at < len(offered) {
			names = append(names, offered[at].Name)
		}
	}
	if len(names) == 0 {
		for _, d := range offered {
			if regexp.MustCompile(`(^|[^\w.-])` + regexp.QuoteMeta(strings.ToLower(d.Name)) + `($|[^\w-])`).MatchString(quoted(r.Text)) {
				names = append(names, d.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// quoted is what stands in quotes, and what follows the word for a function: a tool may be called
// like a word of the sentence.
func quoted(text string) string {
	var all []string
	for _, m := range regexp.MustCompile("['\"`]([^'\"`]{1,100})['\"`]|\\b(?:function|tool|because|name):? ([\\w.-]+)|([\\w.-]+) functiondeclaration").FindAllStringSubmatch(text, 40) {
		all = append(all, m[1:]...)
	}
	return " " + strings.Join(all, " ") + " "
}

// places are the numbers of tools in the words. Amazon counts its members from one.
func (r *Refusal) places() (at []int) {
	text := r.Text + " " + r.Param
	for _, p := range []struct {
		pattern string
		first   int
	}{
		{`function_?declarations?[.\[](\d+)`, 0}, {`tools\.(\d+)\.member`, 1}, {`\btools[.\[](\d+)`, 0}, {`['"]tools['"], ?(\d+)`, 0},
	} {
		for _, m := range regexp.MustCompile(p.pattern).FindAllStringSubmatch(text, 200) {
			if n, err := strconv.Atoi(m[1]); err == nil {
				at = append(at, n-p.first)
			}
		}
		if len(at) > 0 {
			return at
		}
	}
	return nil
}

// aboutBound reports words about the length of the answer that a request asks for.
func (r *Refusal) aboutBound() bool {
	return r.says("max_tokens", "max_completion_tokens", "max_output_tokens", "maxoutputtokens", "max_new_tokens", "maxtokens", "maximum tokens you requested", "num_predict", "in the completion") &&
		!r.says("not supported with this model", "unsupported parameter", "unrecognized", "unknown parameter", "extra inputs")
}

// leastAnswer is the shortest bound that is worth to ask with, in tokens.
const leastAnswer = 256

// bound is the longest answer that the words allow; if 0, they name none. Once says that it holds
// for this prompt alone.
func (r *Refusal) bound() (most int, once bool) {
	number := func(text string) int {
		n, _ := strconv.Atoi(strings.ReplaceAll(text, ",", "")) // too long: none
		return n
	}
	if m := regexp.MustCompile(`(\d+) \+ \d+ > (\d+)`).FindStringSubmatch(r.Text); m != nil {
		return max(0, number(m[2])-number(m[1])), true
	}
	whole := regexp.MustCompile("(?:context length|context window|context limit) (?:is|of) `?(\\d[\\d,]*)").FindStringSubmatch(r.Text)
	prompt := regexp.MustCompile(`(\d[\d,]*) (?:input|prompt|tokens? (?:in|from) the (?:messages|input|prompt)|in the (?:messages|input|prompt))`).FindStringSubmatch(r.Text)
	if whole != nil && prompt != nil {
		return max(0, number(whole[1])-number(prompt[1])), true
	}
	for _, m := range regexp.MustCompile("(>|<=|at most|up to|no more than|not exceed|limit of|maximum of|maximum (?:value|allowed|is|value is|allowed value is)|is limited to|\\d\\s*,|\\bto|or equal to|(?:lower|less) than|less or equal to|smaller than)\\s*[`'\"]?(\\d[\\d,]*\\d)[`'\"]?(\\s*\\(exclusive\\))?").FindAllStringSubmatch(r.Text, 40) {
		n := number(strings.TrimRight(m[2], ","))
		if m[3] != "" || strings.HasSuffix(m[1], "than") && m[1] != "no more than" {
			n--
		}
		if n >= leastAnswer && (most == 0 || n < most) {
			most = n
		}
	}
	return most, false
}

// aboutPart reports words about a picture, a document or another part of a message.
func (r *Refusal) aboutPart() bool {
	return r.says("image", "picture", "photo", "vision", "multimodal", "multi-modal", "document", "pdf", "attachment", "inline_data", "inlinedata",
		"base64", "media_type", "mime type", "mimetype", "media type", "content type", "content part", "unsupported file", "invalid file", "pixels")
}

// blind reports words that say of the model that it takes no pictures.
func (r *Refusal) blind() bool {
	return r.matches(`(does not|doesn't|do not|don't|cannot|can't) (support|accept|take|process|handle) (any )?(input of )?(image|vision|picture|multi-?modal)`) ||
		r.matches(`(image|vision|multimodal|image input|image_url)( input| content)?s? (is|are) (not|only) supported`) ||
		r.says("that support image input", "not a multimodal model", "not a vision model", "no vision", "is not multimodal", "image input is not", "without mmproj", "hint: if this is unexpected, you may need to provide the mmproj")
}

// aboutHistory reports words about the messages of earlier answers: their calls, results, thoughts
// and the order in which they stand.
func (r *Refusal) aboutHistory() bool {
	return r.says("tool_use", "tooluse", "tool_result", "toolresult", "toolconfig", "tool_call", "tool call", "tools= param", "`tools=`", "function call",
		"function_call", "functioncall", "function response", "function_response", "signature", "thinking", "reasoning", "alternat", "assistant message",
		"prefill", "jinja", "chat template", "rendering prompt", "role", "last message", "final message", "must end with", "must start with") ||
		r.matches(`\b(messages|contents|input)[.\[]\d`) || strings.HasPrefix(r.Param, "messages") || strings.HasPrefix(r.Param, "input[")
}

// aboutThoughts reports words about what an earlier answer thought.
func (r *Refusal) aboutThoughts() bool { return r.says("signature", "thinking", "reasoning") }

// aboutTemplate reports words about the form in which a model reads all conversations.
func (r *Refusal) aboutTemplate() bool {
	return r.says("jinja", "template", "alternat", "rendering prompt")
}
