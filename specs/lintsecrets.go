package specs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/plaintext"
)

// secrets finds secrets in values of variables, because files of specs are shared and printed.
func (l *linter) secrets() {
	for _, name := range slices.Sorted(maps.Keys(l.spec.SetEnv)) {
		if template, _ := grammar.ReadValue(l.spec.SetEnv[name]); template.Variable() == "" {
			l.secret("set_env."+name, name, l.spec.SetEnv[name])
		}
	}
	for i, row := range l.spec.Env { // names such as GIT_CONFIG_KEY_0 are usual there
		l.secret(fmt.Sprintf("env[%d].value", i), "", row.Value)
	}
}

// secret warns of a value that errors would redact. Paths are excluded because their names can resemble secrets.
func (l *linter) secret(path, name, value string) {
	if strings.HasPrefix(value, "/") || strings.HasPrefix(value, "~") {
		name = ""
	}
	if plaintext.NewRedactor([]string{name + "=" + value}).Clean(value) != value {
		l.warn(path, "looks like a secret: keep it in an environment variable, and write ${ITS_NAME} in set_env")
	}
}
