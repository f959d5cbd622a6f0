package wire

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// retryAfter returns how long a provider asks to wait, or 0. It reads retry-after-ms, retry-after
// in seconds or as a date, Google's RetryInfo in the body, and for status 429 the limits in the
// headers.
func retryAfter(status int, h http.Header, body []byte) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	value := h.Get("Retry-After")
	if d := seconds(value); d > 0 {
		return d
	}
	if at, err := http.ParseTime(value); err == nil {
		now, err := http.ParseTime(h.Get("Date")) // the server's clock, not ours
		if err != nil {
			now = time.Now()
		}
		return max(0, at.Sub(now))
	}
	if d := retryInfo(body); d > 0 {
		return d
	}
	if status == http.StatusTooManyRequests {
		return limited(h)
	}
	return 0
}

// seconds parses a number, or a duration in Go's and Google's form: 7, 7.66s, 6m0s. It ignores a
// number that can only be a time of day.
func seconds(value string) time.Duration {
	if s, err := strconv.ParseFloat(value, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	d, _ := time.ParseDuration(value) // 0 on error
	return max(0, d)
}

// limited reads x-ratelimit-remaining-* and x-ratelimit-reset-* of OpenAI, Groq and others. It
// waits for the exhausted limit, or for tokens if none is, because then the request was larger than
// the rest.
func limited(h http.Header) time.Duration {
	var wait time.Duration
	for _, what := range []string{"Requests", "Tokens"} {
		left, err := strconv.Atoi(h.Get("X-Ratelimit-Remaining-" + what))
		if err == nil && left <= 0 {
			wait = max(wait, seconds(h.Get("X-Ratelimit-Reset-"+what)))
		}
	}
	if wait == 0 {
		wait = seconds(h.Get("X-Ratelimit-Reset-Tokens"))
	}
	return wait
}

// retryInfo reads google.rpc.RetryInfo from an error's details.
func retryInfo(body []byte) (wait time.Duration) {
	for _, m := range regexp.MustCompile(`"retryDelay"\s*:\s*"([^"]{1,40})"`).FindAllSubmatch(body, 40) {
		wait = max(wait, seconds(string(m[1])))
	}
	return wait
}

// toldWait parses the wait in an error message, or returns 0; errors inside a stream have no
// header. "Please try again in 11.054s", "retry after 12 seconds", "in 7m12.5s".
func toldWait(message string) (wait time.Duration) {
	const unit = `(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h)`
	part := `(\d[\d.]*)\s*` + unit
	whole := regexp.MustCompile(`\b(?:try again|retry)\w*\s+(?:in|after)\s+((?:` + part + `)+)\b`).FindStringSubmatch(strings.ToLower(message))
	if whole == nil {
		return 0
	}
	for _, m := range regexp.MustCompile(part).FindAllStringSubmatch(whole[1], -1) {
		short := m[2][:1]
		if m[2] == "ms" || strings.HasPrefix(m[2], "milli") {
			short = "ms"
		}
		wait += seconds(m[1] + short)
	}
	return wait
}
