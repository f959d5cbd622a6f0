package session

import "slices"

// mended returns a conversation without some messages' images and documents, which a server
// refused, and the first changed index, or -1.
func mended(messages []Message, refused []string) (first int, out []Message) {
	first, out = -1, messages
	for i, m := range messages {
		if !m.Shows() || !slices.Contains(refused, m.ID) {
			continue
		}
		if first < 0 {
			first, out = i, slices.Clone(messages) // earlier requests share the old slice
		}
		out[i] = m.WithoutPictures(RefusedPart)
	}
	return first, out
}

// Old images and documents are not resent forever. When a turn starts, those from old turns are
// left out, several turns at once, so that the provider's cached prefix changes seldom. The rule
// depends on the conversation alone: a resumed session sends the same.
const shownTurns = 8 // newest turns, and how many older ones are left out at once

// forgotten returns a conversation without old images, and the first changed index, or -1.
func forgotten(messages []Message) (first int, out []Message) {
	turns := 0
	for i := range messages {
		if prompted(messages[i]) {
			turns++
		}
	}
	first, out = -1, messages
	left := (turns - shownTurns) / shownTurns * shownTurns // turns that lose their images
	for i := range messages {
		if prompted(messages[i]) {
			left--
		}
		if left < 0 {
			break
		}
		if !messages[i].Shows() {
			continue
		}
		if first < 0 {
			first, out = i, slices.Clone(messages)
		}
		out[i] = messages[i].WithoutPictures("[%s was shown here long ago and is not sent any more; read the file again where it is needed]")
	}
	return first, out
}
