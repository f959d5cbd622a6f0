package programs

import (
	"regexp"
	"strings"
	"sync"
)

// Many programs run, load or obey a variable's value, and a list of those has no end. So this is a
// list of settable names, and shapes of names for numbers and switches, with values that name no
// file.

// harmlessNames choose how something is built, shown or counted.
func harmlessNames() string {
	return "GOOS GOARCH GOARM GOAMD64 CGO_ENABLED GO111MODULE GOMAXPROCS GOGC GOMEMLIMIT GODEBUG GOTRACEBACK GOEXPERIMENT " +
		"NODE_ENV CI DEBUG VERBOSE V TERM NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLUMNS LINES LANG LANGUAGE TZ " +
		"RUST_BACKTRACE RUST_LOG RUST_TEST_THREADS RUST_MIN_STACK CARGO_TERM_COLOR CARGO_INCREMENTAL CARGO_NET_OFFLINE " +
		"PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONIOENCODING PYTHONUTF8 DEBIAN_FRONTEND " +
		"PORT HOST LOG_LEVEL ENV_NAME ENVIRONMENT STAGE RAILS_ENV RACK_ENV APP_ENV FLASK_ENV FLASK_DEBUG MIX_ENV VERSION TARGET ARCH OS " +
		"DATABASE_URL REDIS_URL BASE_URL API_URL CXXSTD BUILD_TYPE PROFILE SEED TIMEOUT COUNT N J JOBS UPDATE UPDATE_SNAPSHOTS UPDATE_GOLDEN " +
		"DOCKER_BUILDKIT COMPOSE_DOCKER_CLI_BUILD BUILDKIT_PROGRESS HUSKY SKIP NAME FOO BAR NEXT_TELEMETRY_DISABLED DO_NOT_TRACK"
}

// harmlessShape matches common prefixes and suffixes for switches and amounts.
var harmlessShape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^LC_[A-Z]+$|^(TEST|SKIP|RUN|NO|ENABLE|DISABLE|WITH)_[A-Z0-9_]+$|^[A-Z][A-Z0-9_]*_(LEVEL|DEBUG|VERBOSE|LINES|SEED|COUNT|TIMEOUT|PORT|COLOR|THREADS|WORKERS|RETRIES|ENABLED|DISABLED)$`)
})

// ofOthers matches names that belong to a loader, a shell, an interpreter or git, whatever their
// shape.
var ofOthers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(LD|DYLD|BASH|GIT|PYTHON|PERL|RUBY|NODE|NPM|JAVA|JDK|GCC|MAKE|CARGO|RUST|GO|SSH|GLIBC|MALLOC)`)
})

// plainValue matches values that are neither a workspace file nor an option, switchValue amounts
// and switches.
var (
	plainValue  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.,=:+*@%-]*$`) })
	switchValue = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\d{0,9}|true|false|yes|no|on|off|auto|always|never|trace|debug|info|warn|warning|error|verbose|C|POSIX|[a-z]{2}_[A-Z]{2}(\.(UTF-8|utf8))?|C\.UTF-8)$`)
	})
)

// RiskySetting explains why a variable for an allowed program requires a question, or returns "".
func RiskySetting(name, value string, known bool) string {
	listed := oneOf(name, strings.Fields(harmlessNames())...)
	switch {
	case !listed && (!harmlessShape().MatchString(name) || ofOthers().MatchString(name)):
		return "it sets " + name + ", which programs may take for more than a value"
	case !known:
		return "it sets " + name + " to what is known only when it runs"
	case listed && !oneOf(name, "TERM", "LANG", "TZ", "LANGUAGE", "GODEBUG"):
		return ""
	}
	if !listed && !switchValue().MatchString(value) || !plainValue().MatchString(value) && !(name == "TZ" && zone(value)) {
		return "it sets " + name + " to what may name a file"
	}
	return ""
}

func zone(s string) bool {
	return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_/+-0123456789") == "" && !strings.HasPrefix(s, "/")
}
