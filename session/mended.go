package session

import "slices"

// mended is a conversation without the pictures and documents of some messages, which a server
// refused, and the first message that this changes; if below 0, none.
func mended(messages []Message, refused []string) (first int, out []Message) {
	first, out = -1, messages
	for i, m := range messages {
		if !m.Shows() || !slices.Contains(refused, m.ID) {
			continue
		}
		if first < 0 {
			first, out = i, slices.Clone(messages) // requests that were made keep theirs
		}
		out[i] = m.WithoutPictures(RefusedPart)
	}
	return first, out
}

// Pictures and documents of long ago are not sent with each request for ever. Those of the turns
// before the last ones are left out at the start of a turn, several turns at once, so that what a
// provider's cache holds changes seldom. The rule looks at the conversation alone: a run that goes
// on with it sends the same.
const shownTurns = 8 // of the newest turns, and left out at once of older ones

// forgotten is a conversation without the pictures of long ago, and the first message that this
// changes; if below 0, none.
func forgotten(messages []Message) (first int, out []Message) {
	turns := 0
	for i := range messages {
		if prompted(messages[i]) {
			turns++
		}
	}
	first, out = -1, messages
	left := (turns - shownTurns) / shownTurns * shownTurns // whose pictures go
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
