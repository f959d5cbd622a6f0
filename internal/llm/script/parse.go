package script

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"adze/session"
)

// step is one written reply.
type step struct {
	number  int
	title   string // the name of its file: "2 look at the test"
	expects []expectation
	saves   []save
	acts    []act
	usage   session.Usage
	stop    session.Stop
	fail    *session.ProviderError
	cut     bool
	hold    bool
}

// expectation is one condition on the request.
type expectation struct {
	text   string // as written
	tool   string // "prompt", "none" or a tool's name
	status string
	match  *regexp.Regexp
}

// save names a piece of the request.
type save struct {
	name  string
	match *regexp.Regexp
}

// act is one thing that the step says: reasoning, text, or a call by its tool's name.
type act struct{ kind, tool, text string }

// line is a directive: what stands before the colon, and after it.
type line struct {
	number int
	words  []string
	text   string
}

// parse reads the steps of each conversation: the main one has no name.
func parse(raw []byte) (map[string]*part, error) {
	archive := txtar.Parse(raw)
	if len(archive.Files) == 0 {
		return nil, fmt.Errorf("no steps; a step begins with a line like -- 1 --")
	}
	parts := map[string]*part{}
	for _, f := range archive.Files {
		agent, rest := owner(f.Name)
		of := parts[agent]
		if of == nil {
			of = &part{saved: map[string]string{}}
			parts[agent] = of
		}
		next := len(of.steps) + 1
		if number, _, _ := strings.Cut(rest, " "); number != strconv.Itoa(next) {
			return nil, fmt.Errorf("step %q must be number %d", f.Name, next)
		}
		s := step{number: next, title: f.Name}
		if err := s.parse(string(f.Data)); err != nil {
			return nil, fmt.Errorf("step %s: %w", f.Name, err)
		}
		of.steps = append(of.steps, s)
	}
	if parts[""] == nil {
		return nil, fmt.Errorf("no steps of the main conversation; a step begins with a line like -- 1 --")
	}
	return parts, nil
}

// owner cuts the subagent's name off a step's: "explore: find it: 1 look" is step 1 of "explore:
// find it".
func owner(name string) (agent, rest string) {
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		return "", name
	}
	for at := len(name); ; {
		at = strings.LastIndex(name[:at], ": ")
		if at < 0 {
			return "", name
		}
		if rest = name[at+2:]; rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return name[:at], rest
		}
	}
}

func (s *step) parse(text string) error {
	lines, err := split(text)
	if err != nil {
		return err
	}
	for _, l := range lines {
		if err := s.add(l); err != nil {
			return fmt.Errorf("line %d: %w", l.number, err)
		}
	}
	return nil
}

// split joins continued lines and cuts each at its first colon.
func split(text string) ([]line, error) {
	var lines []line
	var whole strings.Builder // the text of the last line
	end := func() {
		if len(lines) > 0 {
			lines[len(lines)-1].text = whole.String()
		}
		whole.Reset()
	}
	for i, raw := range strings.Split(text, "\n") {
		more, continued := strings.CutPrefix(raw, "  ")
		if !continued {
			more, continued = strings.CutPrefix(raw, "\t")
		}
		switch {
		case continued && len(lines) > 0:
			whole.WriteByte('\n')
			whole.WriteString(more)
			continue
		case strings.TrimSpace(raw) == "" || raw[0] == '#':
			continue
		}
		before, after, ok := strings.Cut(raw, ":")
		if !ok {
			return nil, fmt.Errorf("line %d: %q has no colon; write word: text", i+1, raw)
		}
		end()
		lines = append(lines, line{number: i + 1, words: strings.Fields(before)})
		whole.WriteString(strings.TrimPrefix(after, " "))
	}
	end()
	return lines, nil
}

func (s *step) add(l line) error {
	if len(l.words) == 0 {
		return fmt.Errorf("a word is missing before the colon")
	}
	switch word, rest := l.words[0], l.words[1:]; {
	case word == "expect" && (len(rest) == 1 || len(rest) == 2):
		return s.expect(l, rest)
	case word == "save" && len(rest) == 1:
		return s.save(rest[0], l.text)
	case word == "call" && len(rest) == 1:
		s.acts = append(s.acts, act{"call", rest[0], l.text})
	case len(rest) > 0:
		return fmt.Errorf("unknown words %q", strings.Join(l.words, " "))
	case word == "text" || word == "reasoning":
		s.acts = append(s.acts, act{kind: word, text: l.text})
	case word == "usage":
		return s.count(l.text)
	case word == "stop":
		return s.stops(l.text)
	case word == "fail":
		return s.fails(l.text)
	case word == "cut":
		s.cut = true
	case word == "hold":
		s.hold = true
	default:
		return fmt.Errorf("unknown word %q", word)
	}
	return nil
}

func (s *step) expect(l line, rest []string) error {
	match, err := regexp.Compile(l.text)
	if err != nil {
		return err
	}
	e := expectation{text: strings.Join(l.words, " ") + ": " + l.text, tool: rest[0], match: match}
	if len(rest) == 2 {
		e.status = rest[1]
	}
	s.expects = append(s.expects, e)
	return nil
}

func (s *step) save(name, text string) error {
	match, err := regexp.Compile(text)
	if err != nil {
		return err
	}
	if match.NumSubexp() < 1 {
		return fmt.Errorf("save %s: the expression needs a group", name)
	}
	s.saves = append(s.saves, save{name, match})
	return nil
}

func (s *step) count(text string) error {
	counts := map[string]int{}
	for field := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(field, "=")
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("usage: %q is no name=number", field)
		}
		counts[name] = n
	}
	raw, err := json.Marshal(counts)
	if err != nil {
		return err
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	return d.Decode(&s.usage)
}

func (s *step) stops(text string) error {
	switch stop := session.Stop(strings.TrimSpace(text)); stop {
	case session.StopLength, session.StopRefused:
		s.stop = stop
		return nil
	}
	return fmt.Errorf("stop: want length or refused, have %q", text)
}

func (s *step) fails(text string) error {
	kind, message, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch k := session.ErrorKind(kind); k {
	case session.AuthError, session.NoModelError, session.RateError, session.NetworkError, session.ServerError,
		session.BadResponse, session.ContextError, session.RequestError, session.RefusedAnswer, session.ReplayError:
		s.fail = &session.ProviderError{Kind: k, Message: message}
		return nil
	}
	return fmt.Errorf("fail: unknown kind %q", kind)
}
