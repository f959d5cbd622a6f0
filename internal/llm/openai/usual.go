package openai

import "adze/internal/llm/wire"

// usual reads the most common chunk: one choice with a text, a thought or part of a call. Its
// result equals encoding/json's; false means that the caller must use that.
func usual(data []byte) (c chunk, ok bool) {
	s := wire.Scan(data)
	ok = s.Object(func(name []byte) bool {
		switch string(name) {
		case "choices":
			return c.Choices.V == nil && s.Array(func() bool {
				var one choice
				ok := usualChoice(&s, &one)
				c.Choices.V = append(c.Choices.V, one)
				return ok
			})
		case "usage":
			return s.Null()
		case "id", "object", "created", "model", "system_fingerprint", "service_tier", "provider", "obfuscation":
			return s.Pass()
		}
		return false
	})
	return c, ok && s.End()
}

func usualChoice(s *wire.Scanner, c *choice) bool {
	return s.Object(func(name []byte) (ok bool) {
		switch string(name) {
		case "index":
			var n int
			n, ok = s.Digits()
			c.Index = wire.Number(n)
			return ok && n < 1<<31
		case "delta":
			if c.Delta != nil {
				return false
			}
			c.Delta = &wire.Maybe[delta]{}
			return usualDelta(s, &c.Delta.V)
		case "finish_reason":
			return usualText(s, &c.Finish)
		case "native_finish_reason":
			return usualText(s, &c.Native)
		case "logprobs":
			return s.Null()
		}
		return false
	})
}

func usualDelta(s *wire.Scanner, d *delta) bool {
	return s.Object(func(name []byte) bool {
		switch string(name) {
		case "content":
			text, ok := s.Text()
			if d.Content = nil; text != "" {
				d.Content = content{{text: text}}
			}
			return ok
		case "reasoning":
			return usualText(s, &d.Reasoning)
		case "reasoning_content":
			return usualText(s, &d.ReasoningContent)
		case "refusal":
			return usualText(s, &d.Refusal)
		case "tool_calls":
			if d.Calls.V != nil {
				return false
			}
			return s.Null() || s.Array(func() bool {
				var f fragment
				ok := usualFragment(s, &f)
				d.Calls.V = append(d.Calls.V, f)
				return ok
			})
		case "function_call":
			return s.Null()
		case "role":
			return s.Pass()
		}
		return false
	})
}

func usualFragment(s *wire.Scanner, f *fragment) bool {
	return s.Object(func(name []byte) bool {
		switch string(name) {
		case "index":
			n, ok := s.Digits()
			f.Index = new(wire.Number(n))
			return ok && n < 1<<31
		case "id":
			return usualText(s, &f.ID)
		case "type":
			return s.Pass()
		case "function":
			return f.Function.V.Name == "" && f.Function.V.Arguments == nil && usualCalled(s, &f.Function.V)
		}
		return false
	})
}

func usualCalled(s *wire.Scanner, c *called) bool {
	return s.Object(func(name []byte) (ok bool) {
		switch string(name) {
		case "name":
			if s.Null() {
				return true
			}
			c.Name, ok = s.Text()
		case "arguments":
			c.Arguments, ok = s.Quoted()
		}
		return ok
	})
}

func usualText[T ~string](s *wire.Scanner, into *T) bool {
	text, ok := s.Text()
	*into = T(text)
	return ok
}
