package proc_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/sandbox/proc"
)

// Each name is judged with a harmless value.
func TestEnvironByName(t *testing.T) {
	pass := []string{
		"HOME", "USER", "SHELL", "LANG", "LC_ALL", "TERM", "PWD", "OLDPWD", "TMPDIR", "GOPATH", "GOFLAGS",
		"GOPRIVATE", "JAVA_HOME", "VIRTUAL_ENV", "CARGO_HOME", "NVM_DIR", "DISPLAY", "XAUTHORITY", "XDG_SESSION_ID",
		"KEYBOARD", "MONKEY", "HOTKEY", "KEYMAP", "TOKENIZERS_PARALLELISM", "GIT_AUTHOR_NAME", "GIT_COMMITTER_EMAIL",
		"BYPASS_CACHE", "COMPASS", "AUTHOR", "SECRETARY", "MAKEFLAGS", "CC", "CFLAGS", "PKG_CONFIG_PATH", "http_proxy", "CI",
	}
	drop := []string{
		"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN", "GITHUB_TOKEN",
		"GH_TOKEN", "NPM_TOKEN", "npm_config__authToken", "GOOGLE_APPLICATION_CREDENTIALS", "PGPASSWORD", "PGPASSFILE", "MYSQL_PWD",
		"DB_PASS", "SSH_AUTH_SOCK", "REDISCLI_AUTH", "STRIPE_SECRET", "APIKEY", "MYAPIKEY", "OPENAIKEY", "ACCESSKEY", "JWT",
		"GITLAB_PRIVATE_TOKEN", "SESSION_COOKIE", "SENTRY_DSN", "AZURE_CREDS", "VAULT_TOKEN", "TOKEN", "Secret",
		"LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "SHELLOPTS", "PROMPT_COMMAND", "PS4", "IFS",
		"BASH_FUNC_ls%%", "NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "RUBYOPT", "PERL5OPT", "PYTHONSTARTUP",
		"GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_COUNT", "GIT_EXEC_PATH", "GIT_DIR", "GIT_ASKPASS", "SSH_ASKPASS", "LESSOPEN",
		"RUSTC_WRAPPER", "ADZE_ANYTHING",
	}
	var base []string
	for _, name := range slices.Concat(pass, drop) {
		base = append(base, name+"=plain")
	}
	got, always := proc.Environ(base, proc.EnvPolicy{}), proc.Environ(nil, proc.EnvPolicy{})
	var names []string
	for _, kv := range got[:len(got)-len(always)] {
		name, _, _ := strings.Cut(kv, "=")
		names = append(names, name)
	}
	if diff := cmp.Diff(pass, names); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	for _, want := range []string{"PAGER=cat", "MANPAGER=cat", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "NO_COLOR=1", "ADZE=1"} {
		if !slices.Contains(got, want) {
			t.Errorf("a command does not get %s", want)
		}
	}
}

func TestEnviron(t *testing.T) {
	always := proc.Environ(nil, proc.EnvPolicy{})
	for name, c := range map[string]struct {
		base   []string
		policy proc.EnvPolicy
		want   []string
	}{
		"the last of a name counts":   {[]string{"A=1", "B=2", "A=3"}, proc.EnvPolicy{}, []string{"B=2", "A=3"}},
		"PATH has no relative folder": {[]string{"PATH=:/bin:.:bin:/usr/bin:"}, proc.EnvPolicy{}, []string{"PATH=/bin:/usr/bin"}},
		"ours win":                    {[]string{"PAGER=less", "NO_COLOR="}, proc.EnvPolicy{}, nil},
		"not a variable":              {[]string{"", "=x", "novalue", "A="}, proc.EnvPolicy{}, []string{"A="}},
		"allow lets through":          {[]string{"GITHUB_TOKEN=x", "LD_LIBRARY_PATH=/x"}, proc.EnvPolicy{Allow: []string{"GITHUB_TOKEN", "ld_*"}}, []string{"GITHUB_TOKEN=x", "LD_LIBRARY_PATH=/x"}},
		"provider key is final":       {[]string{"MY_MODEL=x"}, proc.EnvPolicy{Secrets: []string{"MY_MODEL"}, Allow: []string{"*"}}, nil},
		"only":                        {[]string{"A=1", "B=2", "GITHUB_TOKEN=x"}, proc.EnvPolicy{Only: []string{"B", "GITHUB_TOKEN"}}, []string{"B=2", "GITHUB_TOKEN=x"}},
		"key in an innocent name":     {[]string{"X=sk-0123456789abcdef", "Y=AKIAIOSFODNN7EXAMPLE", "Z=sk-i"}, proc.EnvPolicy{}, []string{"Z=sk-i"}},
		"password in a URL":           {[]string{"DATABASE_URL=postgres://u:p@h/d", "A=https://u@h/p:1", "B=http://h:80/@x"}, proc.EnvPolicy{}, []string{"A=https://u@h/p:1", "B=http://h:80/@x"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(append(c.want, always...), proc.Environ(c.base, c.policy)); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
	got := proc.Environ([]string{"A=1"}, proc.EnvPolicy{Set: []string{"A=2", "MY_TOKEN=given"}})
	if diff := cmp.Diff(append(always, "A=2", "MY_TOKEN=given"), got); diff != "" {
		t.Errorf("set: want -, got +:\n%s", diff)
	}
}

// TestEnvironGivesNoLogin withholds keys under names that say nothing, and names of logins: a
// program must not take another login instead.
func TestEnvironGivesNoLogin(t *testing.T) {
	base := []string{
		"STRIPE=sk_live_51HaBcDe", "PAYMENTS=rk_live_" + strings.Repeat("a1", 12), "TWILIO=SK" + strings.Repeat("0a", 16), "HOOK2=xoxb-1234-abcd", "KUBECONFIG=/home/ada/work",
		"AWS_PROFILE=production", "DOCKER_CONFIG=/home/ada/registry", "LANG=sk_SK.UTF-8", "NAME=sk-learn", "MODE=npm_run_all", "AWS_REGION=eu-west-1",
	}
	got := proc.Environ(base, proc.EnvPolicy{})
	want := []string{"KUBECONFIG=/dev/null", "AWS_PROFILE=withheld-by-adze", "DOCKER_CONFIG=/dev/null/withheld", "LANG=sk_SK.UTF-8", "NAME=sk-learn", "MODE=npm_run_all", "AWS_REGION=eu-west-1"}
	if diff := cmp.Diff(want, got[:min(len(got), len(want))]); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	for _, p := range []proc.EnvPolicy{{Allow: []string{"KUBECONFIG"}}, {Only: []string{"KUBECONFIG"}}} {
		if got := proc.Environ(base, p); !slices.Contains(got, "KUBECONFIG=/home/ada/work") {
			t.Errorf("%+v: let through, it is %q", p, got)
		}
	}
}
