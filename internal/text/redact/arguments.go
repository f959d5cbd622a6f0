package redact

import "strings"

// Arguments masks secrets in a process's command line, whose arguments are separated by spaces:
// values of flags and variables with secret names, passwords in URLs, tokens in headers, and
// everything that looks like a key.
func Arguments(command string) string {
	words := strings.Split(command, " ")
	next := false // this word is the previous flag's value
	for i, word := range words {
		flag := strings.TrimLeft(word, "-")
		name, value, given := strings.Cut(flag, "=")
		switch {
		case next && !strings.HasPrefix(word, "-"):
			words[i] = Mark
			next = false
		case given && value != "" && i > 0 && (Name(name) || secretParameter(strings.ToLower(name))):
			words[i] = word[:len(word)-len(value)] + Mark
			next = false
		default:
			next = i > 0 && !given && flag != word && (Name(flag) || secretParameter(strings.ToLower(flag)))
		}
	}
	return (&Masker{}).Text(strings.Join(words, " "))
}
