package toolset

import (
	"strings"

	"adze/internal/files/textedit"
	"adze/internal/text/redact"
	"adze/tool"
)

// The model sees a mark in place of a secret. Writing the mark back would replace the secret.

// hidden refuses edits that match or write a mark unless the file contains it.
func hidden(edits []textedit.Edit, file string) error {
	for _, e := range edits {
		switch {
		case strings.Contains(e.Old, redact.Mark) && !strings.Contains(unixLines(file), unixLines(e.Old)):
			return tool.Fail(tool.CodeInvalidArguments, "old_string holds %s, which stands for a secret that you were not shown; the file has the secret there. Match the text beside it, and leave the secret as it is", redact.Mark)
		case !strings.Contains(e.Old, redact.Mark) && !strings.Contains(file, redact.Mark) && strings.Contains(e.New, redact.Mark):
			return markWritten("new_string")
		}
	}
	return nil
}

// hiddenLarge is hidden for an unloaded file, where only exact matches are found.
func hiddenLarge(edits []textedit.Edit) error {
	for _, e := range edits {
		if strings.Contains(e.New, redact.Mark) && !strings.Contains(e.Old, redact.Mark) {
			return markWritten("new_string")
		}
	}
	return nil
}

// hiddenText refuses a whole text with more marks than the file has.
func hiddenText(next, file string) error {
	if strings.Count(next, redact.Mark) > strings.Count(file, redact.Mark) {
		return markWritten("content")
	}
	return nil
}

func markWritten(where string) error {
	return tool.Fail(tool.CodeInvalidArguments, "%s holds %s, which stands for a secret that you were not shown; written back it would take the secret's place. Edit only the text beside it, or let the user put the secret in", where, redact.Mark)
}

func unixLines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
