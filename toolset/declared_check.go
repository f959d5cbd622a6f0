package toolset

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// checkCommand wants a fixed program, and no value where a shell would read it as code.
func (d *declared) checkCommand() error {
	if len(d.Command) == 0 || len(d.Command[0].words) == 0 {
		return errors.New(`command is missing; add "command": ["program", "{parameter}"]`)
	}
	program := d.Command[0].words[0]
	switch {
	case len(program.names) > 0 || d.Command[0].group:
		return errors.New("the first element of command is the program and cannot be a parameter or a list; name the program")
	case program.texts[0] == "":
		return errors.New("the first element of command is empty; name the program")
	}
	letter, code := "", false
	for _, w := range d.words() {
		if code && len(w.names) > 0 {
			return fmt.Errorf(`{%s} would be spliced into code that %s runs; pass it as an argument, as in ["sh", "-c", "… \"$1\"", "sh", "{%s}"]`,
				w.names[0], program.texts[0], w.names[0])
		}
		if len(w.names) == 0 {
			code = letter != "" && takesCode(w.texts[0], letter)
			letter += codeLetter(w.texts[0])
		}
	}
	return nil
}

// words lists the arguments of a command in order, those of groups too.
func (d *declared) words() (all []word) {
	for _, p := range d.Command {
		all = append(all, p.words...)
	}
	return all
}

// codeLetter is the option that makes an interpreter run the next argument as code, "" for other
// programs.
func codeLetter(program string) string {
	name := strings.TrimRight(filepath.Base(program), "0123456789.")
	switch {
	case slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "python"}, name):
		return "c"
	case slices.Contains([]string{"perl", "ruby", "node", "lua"}, name):
		return "e"
	}
	return ""
}

// takesCode finds such an option, also among others, as in -ec.
func takesCode(option, letters string) bool {
	if strings.HasPrefix(option, "--") {
		return option == "--command" || option == "--eval"
	}
	return strings.HasPrefix(option, "-") && strings.ContainsAny(option[1:], letters)
}

// checkUse wants every placeholder to be a parameter, and every parameter to get to the program.
func (d *declared) checkUse() error {
	used := map[string]bool{}
	for _, w := range d.words() {
		_, whole := w.whole()
		for _, name := range w.names {
			if !d.properties.has(name) {
				return fmt.Errorf("{%s} in command is no parameter; there are: %s", name, d.properties.names())
			}
			if d.properties[name] == "array" && !whole {
				return fmt.Errorf("{%s} is a list, which must be a whole argument; write it as an element of its own", name)
			}
			used[name] = true
		}
	}
	for name := range d.properties {
		if !used[name] && d.Stdin == "" {
			return fmt.Errorf(`the parameter %s gets to the program nowhere; use {%s} in command, or add "stdin": "json"`, name, name)
		}
	}
	return nil
}
