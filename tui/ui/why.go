package ui

// Why returns why something cannot be done, where that is so; else it is empty.
func Why(cannot bool, why string) string {
	if cannot {
		return why
	}
	return ""
}
