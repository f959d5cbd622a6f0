package jsontext

import "bytes"

// Fields finds fields in an object in one pass without decoding: values[i] becomes the raw value
// for names[i], or nil. It is for JSON written by this program: names have no escapes, and skipped
// values are only checked for strings and brackets. It reports whether data looks like an object.
func Fields(data []byte, names []string, values [][]byte) bool {
	clear(values)
	i := space(data, 0)
	if i >= len(data) || data[i] != '{' {
		return false
	}
	if i = space(data, i+1); i < len(data) && data[i] == '}' {
		return space(data, i+1) == len(data)
	}
	for {
		end := pastString(data, i)
		if end < 0 {
			return false
		}
		name := data[i+1 : end-1]
		if i = space(data, end); i >= len(data) || data[i] != ':' {
			return false
		}
		i = space(data, i+1)
		if end = pastValue(data, i); end < 0 {
			return false
		}
		for n := range names {
			if string(name) == names[n] {
				values[n] = data[i:end]
				break
			}
		}
		if i = space(data, end); i >= len(data) {
			return false
		}
		if data[i] == '}' {
			return space(data, i+1) == len(data)
		}
		if data[i] != ',' {
			return false
		}
		i = space(data, i+1)
	}
}

// Plain returns a JSON string's text; ok is false if it has escapes or is no string.
func Plain(value []byte) (text string, ok bool) {
	if len(value) < 2 || value[0] != '"' || bytes.IndexByte(value, '\\') >= 0 {
		return "", false
	}
	return string(value[1 : len(value)-1]), true
}

func space(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r') {
		i++
	}
	return i
}

// pastString returns the offset after the string at i, or -1.
func pastString(data []byte, i int) int {
	if i >= len(data) || data[i] != '"' {
		return -1
	}
	for at := i + 1; ; {
		n := bytes.IndexByte(data[at:], '"')
		if n < 0 {
			return -1
		}
		at += n + 1
		escapes := 0
		for data[at-2-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at
		}
	}
}

// pastValue returns the offset after the value at i, or -1.
func pastValue(data []byte, i int) int {
	for depth := 0; i < len(data); {
		switch data[i] {
		case '"':
			if i = pastString(data, i); i < 0 {
				return -1
			}
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return -1
			}
		case ',', ' ', '\n', '\t', '\r', ':':
		default: // a number or literal
			for i++; i < len(data) && !ends(data[i]); i++ {
			}
			if depth == 0 {
				return i
			}
			continue
		}
		i++
	}
	return -1
}

// ends reports whether c can follow a number or literal.
func ends(c byte) bool {
	return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\t' || c == '\r'
}
