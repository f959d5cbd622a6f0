package redact

import "strings"

// Name reports whether the words in a variable's name indicate a secret; MONKEY, KEYBOARD and
// GIT_AUTHOR_NAME do not. A webhook URL counts: whoever knows it may use it.
func Name(name string) bool {
	words := strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
	for i, w := range words {
		switch w {
		case "KEY", "KEYS", "TOKEN", "TOKENS", "SECRET", "SECRETS", "AUTH", "CREDENTIAL", "CREDENTIALS", "CREDS",
			"PAT", "COOKIE", "COOKIES", "PASS", "PRIVATE", "SIGNATURE", "BEARER", "JWT", "DSN", "PW", "PSK", "SAS", "OTP", "TOTP":
			return true
		case "PWD": // MYSQL_PWD, but not PWD and OLDPWD
			if i > 0 {
				return true
			}
		case "HOOK": // SLACK_HOOK_URL, DEPLOY_HOOK, but not PRE_COMMIT_HOOK_STAGE
			if i == len(words)-1 || words[i+1] == "URL" {
				return true
			}
		}
		for _, end := range []string{"APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE", "PASSFILE",
			"WEBHOOK", "WEBHOOKS", "WEBHOOKURL", "CONNECTIONSTRING", "CONNSTR"} {
			if strings.HasSuffix(w, end) {
				return true
			}
		}
		if w == "CONNECTION" && i+1 < len(words) && words[i+1] == "STRING" {
			return true
		}
		if strings.HasSuffix(w, "KEY") && len(w) > len("KEY")+2 && keyed(w) {
			return true
		}
	}
	return false
}

// keyed distinguishes OPENAIKEY and ACCESSKEY from MONKEY and HOTKEY.
func keyed(word string) bool {
	for _, stem := range []string{"ACCESS", "ACCOUNT", "SECRET", "PRIVATE", "AI", "MASTER", "SIGNING", "ENCRYPTION", "SSH", "AUTH"} {
		if strings.HasSuffix(strings.TrimSuffix(word, "KEY"), stem) {
			return true
		}
	}
	return false
}

// Value reports whether a variable's value looks like a secret: a published key format or a
// password in a URL.
func Value(value string) bool {
	spans, _ := scan(value, 0, true)
	return len(spans) > 0 || begun(value)
}

// begun reports whether value is a published key prefix followed by allowed letters, in any number:
// in a variable nothing else looks like that.
func begun(value string) bool {
	for _, k := range published {
		if rest, ok := strings.CutPrefix(value, k.prefix); ok && len(k.prefix) > 2 && len(rest) >= 8 && count(rest, isDigit) > 0 && run(rest, 0, k.class) == len(rest) {
			return true
		}
	}
	return false
}

// InVariable returns the secret part of an environment variable, or "". A path to a secret does not
// count.
func InVariable(name, value string) string {
	at := strings.Index(value, "://")
	switch {
	case at > 0 && !Name(name) || strings.HasPrefix(value, "/") || strings.HasPrefix(value, "~"):
	case at > 0 && password(value, at) != (Span{}):
	case Name(name):
		return value
	}
	for _, x := range New().Spans(value) {
		return value[x.Start:x.End]
	}
	return ""
}
