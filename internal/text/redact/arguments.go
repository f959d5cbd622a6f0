package redact

import "strings"

// Arguments masks secrets in the command of a process, whose arguments stand there with blanks
// between them: what a flag or a variable is given whose name is that of a secret, passwords in
// addresses, tokens in headers, and all that looks like a key.
func Arguments(command string) string {
	words := strings.Split(command, " ")
	next := false // the word is the value of the flag before it
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
