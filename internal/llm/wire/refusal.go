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

// A Refusal is a server's complete error about a request. The user's message holds part of it.
type Refusal struct {
	Status            int
	Failed            session.ErrorKind // as classified
	Kind, Code, Param string            // the server's names
	Text              string            // its full text; in an error in lower case, without the key
	wrote             string            // model text with a call that the server could not parse
}

// Error implements error.
func (r *Refusal) Error() string { return r.Text }

// refusalOf returns the refusal in an error, or nil if no changed request could help.
func refusalOf(err error) *Refusal {
	var failure *session.ProviderError
	if !errors.As(err, &failure) || failure.UnparsedCall != "" {
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

// vague reports a refusal without a reason, or with a text that fits any.
func (r *Refusal) vague() bool {
	return (r.Status == http.StatusBadRequest || r.Status == http.StatusUnprocessableEntity || r.Status == http.StatusUnsupportedMediaType) &&
		(len(r.Text) < 12 || containsAny(r.Text, "invalid argument", "invalid request", "bad request", "provider returned error", "malformed", "validation error", "unprocessable"))
}

// matches reports whether an expression matches the server's text or names.
func (r *Refusal) matches(expression string) bool {
	return regexp.MustCompile(expression).MatchString(r.Text + "\nparam:" + r.Param + "\ncode:" + r.Code)
}

// Subjects of refusals, as expressions.
const (
	// The model takes no tools at all. The wordings are those of Ollama, vLLM, llama.cpp,
	// OpenRouter, Groq, Gemini and DeepSeek.
	aboutTools = `(does not|doesn't|do not|don't) support (the use of |using )?(tools?|function|tool[- ]call)|` +
		"(tool calling|tool use|tools|function calling)`? (is|are) not (supported|enabled)|" +
		`that support tool use|enable-auto-tool-choice|tools param requires|requires --jinja`
	// The requested output limit.
	aboutBound = `max_tokens|max_completion_tokens|max_output_tokens|maxoutputtokens|max_new_tokens|maxtokens|maximum tokens you requested|num_predict|in the completion`
	// A tool's schema or name.
	aboutSchema = `(?s)input_?schema|function_?declaration|toolspec|property keys|invalid_function_parameters|function parameters|parameters schema|` +
		`schema.*(tool|function)|(tool|function).*schema|\btools[.\[]\d|['"]tools['"], ?\d|param:tools`
	// The model takes no pictures.
	aboutSight = `(does not|doesn't|do not|don't|cannot|can't) (support|accept|take|process|handle) (any )?(input of )?(image|vision|picture|multi-?modal)|` +
		`(image|vision|multimodal|image input|image_url)( input| content)?s? (is|are) (not|only) supported|` +
		`that support image input|not a (multimodal|vision) model|no vision|is not multimodal|image input is not|without mmproj|need to provide the mmproj`
	// A picture, a document or another message part.
	aboutPart = `image|picture|photo|vision|multi-?modal|document|pdf|attachment|inline_?data|base64|media_type|mime ?type|media type|content (type|part)|` +
		`unsupported file|invalid file|pixels`
	// The chat template.
	aboutTemplate = `jinja|template|alternat|rendering prompt`
	// Messages of earlier answers, and their order.
	aboutHistory = "tool_?use|tool_?result|toolconfig|tool[_ ]call|tools= param|`tools=`|function[_ ]?call|function[_ ]response|signature|thinking|reasoning|" +
		`assistant message|prefill|role|(last|final) message|must (end|start) with|\b(messages|contents|input)[.\[]\d|param:(messages|input\[)`
)

// NoTools reports whether a server says that a model takes no tools at all, as opposed to one tool,
// its schema or the tool choice.
func NoTools(err error) bool {
	r := refusalOf(err)
	return r != nil && r.noTools()
}

func (r *Refusal) noTools() bool {
	return r.matches(aboutTools) && !r.matches(aboutSchema) && (r.matches("enable-auto-tool-choice") || !r.matches("tool[_ ]choice")) && !r.matches("without `?tools")
}

// tools returns the names of the offered tools that the text mentions.
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

// quoted returns text in quotes, and the word after "function": a tool's name may be an ordinary
// word.
func quoted(text string) string {
	var all []string
	for _, m := range regexp.MustCompile("['\"`]([^'\"`]{1,100})['\"`]|\\b(?:function|tool|because|name):? ([\\w.-]+)|([\\w.-]+) functiondeclaration").FindAllStringSubmatch(text, 40) {
		all = append(all, m[1:]...)
	}
	return " " + strings.Join(all, " ") + " "
}

// places returns tool indexes in the text. Amazon counts members from one.
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

// Shortest output limit worth a request, in tokens.
const leastAnswer = 256

// bound returns the longest answer allowed by the text, or 0. once means that it applies to this
// prompt only.
func (r *Refusal) bound() (most int, once bool) {
	number := func(text string) int {
		n, _ := strconv.Atoi(strings.ReplaceAll(text, ",", "")) // 0 on overflow
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
