package ui

// ReasonIf returns why if cannot is true, else "".
func ReasonIf(cannot bool, why string) string {
	if cannot {
		return why
	}
	return ""
}
