package ui

// Why returns why if cannot is true, else "".
func Why(cannot bool, why string) string {
	if cannot {
		return why
	}
	return ""
}
