package provider

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/landlock"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/pattern"
)

// deniedPath matches the first absolute path in a line about a denied access, before or after the words.
var deniedPath = pattern.Of(`(?mi)^(?:.*?(?:EACCES|permission denied)[^\n]*?['"\s:(](/[^\s'":;,)]+)` +
	`|[^\n]*?(?:^|['"\s:(])(/[^\s'":;,)]+)[^\n]*?(?:EACCES|permission denied))`)

// explain adds advice to the error of a run that the confinement may have failed.
func (c *plan) explain(err *call.Error, ev *judge.Evidence) {
	if err == nil || len(c.confined.rules) == 0 {
		return
	}
	c.confined.explain(err, ev)
	passed := func(kv string) bool { return strings.HasPrefix(kv, compose.Keyring+"=") }
	set := os.Getenv(compose.Keyring) != ""
	if err.Reason == call.ReasonUnauthenticated && set && !slices.ContainsFunc(c.Env, passed) {
		advice := call.Advice{Action: call.ActionAdd, Field: "config.pass_env", Value: compose.Keyring}
		err.Advice = append(err.Advice, advice)
	}
}

// explain adds advice to the error of a run that the kernel has denied a file, if the CLI has reported the file.
func (c *confinement) explain(err *call.Error, ev *judge.Evidence) {
	for _, text := range []string{err.Message, ev.Stderr} {
		for _, found := range deniedPath().FindAllStringSubmatch(text, 20) {
			path := found[1] + found[2]
			granted := c.grants(path)
			if granted&landlock.Write != 0 || strings.HasPrefix(path, "/proc/") { // other reasons deny it
				continue
			}
			err.Message += "; the confinement denies " + path
			err.Hint, err.Advice = "", nil
			if granted == 0 {
				err.Advice = []call.Advice{{Action: call.ActionAdd, Field: "config.read_paths", Value: path}}
			}
			err.Advice = append(err.Advice, call.Advice{Action: call.ActionAdd, Field: "config.write_paths", Value: path})
			return
		}
	}
}

// grants returns the rights that the rules grant on a path.
func (c *confinement) grants(path string) (access landlock.Access) {
	for _, r := range c.rules {
		if localfile.Within(filepath.Clean(path), r.Path) {
			access |= r.Access
		}
	}
	return access
}
