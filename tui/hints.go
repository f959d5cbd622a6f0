package tui

// hintsOfFirst are what to press on the first screen.
func (m *model) hintsOfFirst() []string {
	return []string{"enter does it", m.keys.label(lookAgain) + " looks again", "d demo", "q quits", m.keys.label(showHelp) + " keys"}
}

// hintsOfPicker are what to press in a list.
func (m *model) hintsOfPicker() []string {
	hints := []string{m.keys.label(send) + " chooses"}
	if m.picker.CanPickCopy() == "" {
		hints = append(hints, m.keys.label(openCopy)+" opens a copy")
	}
	return append(hints, m.keys.label(closeHelp)+" closes")
}

// hintsOfView are what to press in a pane.
func (m *model) hintsOfView() []string {
	var hints []string
	if canParts(m) == "" {
		hints = append(hints, m.keys.label(nextPart)+" next")
	}
	if looksAtChanges(m) == "" {
		hints = append(hints, "y copies the path", "d the diff")
	}
	return append(hints, m.keys.label(showHelp)+" keys")
}
