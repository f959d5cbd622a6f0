package script

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"adze/session"
)

type step struct {
	number int
	title  string // its file name: "2 look at the test"
	lines  []line // expect, save, reasoning, text and call
	usage  session.Usage
	stop   session.Stop // if empty, the calls decide
	fail   error
	hold   bool
}

// line is one line of a step, split at its colon.
type line struct {
	number int
	words  []string
	text   string
	match  *regexp.Regexp // for expect and save
}

// parse reads the steps by conversation; the main one has the name "".
func parse(raw []byte) (map[string]*part, error) {
	parts := map[string]*part{}
	for _, f := range txtar.Parse(raw).Files {
		agent, rest := owner(f.Name)
		of := parts[agent]
		if of == nil {
			of = &part{saved: map[string]string{}}
			parts[agent] = of
		}
		s := &step{number: len(of.steps) + 1, title: f.Name}
		if number, _, _ := strings.Cut(rest, " "); number != strconv.Itoa(s.number) {
			return nil, fmt.Errorf("step %q must be number %d", f.Name, s.number)
		}
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

// owner splits off a step's subagent: "explore: find it: 1 look" is step 1 of "explore: find it".
func owner(name string) (agent, rest string) {
	if m := regexp.MustCompile(`^(.*): (\d.*)$`).FindStringSubmatch(name); m != nil && (name[0] < '0' || name[0] > '9') {
		return m[1], m[2]
	}
	return "", name
}

// parse joins continued lines and splits each at its first colon.
func (s *step) parse(text string) error {
	var last *line
	var whole strings.Builder // text of the last line
	end := func() error {
		if last == nil {
			return nil
		}
		last.text = whole.String()
		whole.Reset()
		if err := s.add(*last); err != nil {
			return fmt.Errorf("line %d: %w", last.number, err)
		}
		return nil
	}
	for i, raw := range strings.Split(text, "\n") {
		more, continued := strings.CutPrefix(raw, "  ")
		if !continued {
			more, continued = strings.CutPrefix(raw, "\t")
		}
		if continued && last != nil {
			whole.WriteString("\n" + more)
			continue
		}
		if strings.TrimSpace(raw) == "" || raw[0] == '#' {
			continue
		}
		before, after, ok := strings.Cut(raw, ":")
		if !ok {
			return fmt.Errorf("line %d: %q has no colon; write word: text", i+1, raw)
		}
		if err := end(); err != nil {
			return err
		}
		last = &line{number: i + 1, words: strings.Fields(before)}
		whole.WriteString(strings.TrimPrefix(after, " "))
	}
	return end()
}

func (s *step) add(l line) (err error) {
	word, others := "", len(l.words)-1
	if others >= 0 {
		word = l.words[0]
	}
	text := strings.TrimSpace(l.text)
	switch {
	case word == "expect" && (others == 1 || others == 2), word == "save" && others == 1:
		if l.match, err = regexp.Compile(l.text); err == nil && word == "save" && l.match.NumSubexp() == 0 {
			err = fmt.Errorf("save %s: the expression needs a group", l.words[1])
		}
		s.lines = append(s.lines, l)
	case word == "call" && others == 1, others == 0 && (word == "text" || word == "reasoning"):
		s.lines = append(s.lines, l)
	case others != 0:
		err = fmt.Errorf("unknown words %q", strings.Join(l.words, " "))
	case word == "usage":
		err = s.count(text)
	case word == "stop" && text == string(session.StopLength):
		s.stop = session.StopLength
	case word == "stop" && text == string(session.StopRefused):
		s.fail = &session.ProviderError{Kind: session.RefusedAnswer, Message: "script refused to answer", Hint: "rephrase the request"}
	case word == "stop":
		err = fmt.Errorf("stop: want length or refused, have %q", text)
	case word == "fail":
		kind, message, _ := strings.Cut(text, " ")
		s.fail = &session.ProviderError{Kind: session.ErrorKind(kind), Message: message}
		if !slices.Contains(failures(), session.ErrorKind(kind)) {
			err = fmt.Errorf("fail: unknown kind %q", kind)
		}
	case word == "cut":
		s.fail = &session.ProviderError{Kind: session.BadResponse, Message: "script ended the answer before it was complete", Hint: "try again"}
	case word == "hold":
		s.hold = true
	default:
		err = fmt.Errorf("unknown word %q", word)
	}
	return err
}

// failures returns the error kinds that a script can use.
func failures() []session.ErrorKind {
	return []session.ErrorKind{
		session.AuthError, session.NoModelError, session.RateError, session.NetworkError, session.ServerError,
		session.BadResponse, session.ContextError, session.RequestError, session.RefusedAnswer, session.ReplayError,
	}
}

// count parses name=number pairs.
func (s *step) count(text string) error {
	var fields []string
	for field := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(field, "=")
		fields = append(fields, strconv.Quote(name)+":"+value)
	}
	d := json.NewDecoder(strings.NewReader("{" + strings.Join(fields, ",") + "}"))
	d.DisallowUnknownFields()
	if err := d.Decode(&s.usage); err != nil {
		return fmt.Errorf("usage: want name=number: %w", err)
	}
	return nil
}
