package clichain_test

import (
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
	"github.com/stretchr/testify/require"
)

const cities = `{"type":"object","properties":{"city":{"type":"string"},"n":{"type":"integer"}},"required":["city"],"additionalProperties":false}`

func system(text string) clichain.Message {
	return clichain.Message{Role: clichain.RoleSystem, Content: text}
}

func put(rest cooldown.State) func(cooldown.State) cooldown.State {
	return func(cooldown.State) cooldown.State { return rest }
}

// aRest is one that is not over.
func aRest(failures int) cooldown.State {
	now := time.Now().UTC().Round(0)
	return cooldown.State{Reason: clichain.ReasonUsageLimit, Failures: failures, At: now, Until: now.Add(time.Hour), Probe: now.Add(time.Minute), Scope: "s"}
}

// fileStore makes a store that must have nothing to warn of, but for what is
// allowed.
func fileStore(t *testing.T, path string, allowed ...string) (s *cooldown.File, warnings *[]string) {
	warnings = &[]string{}
	var mu sync.Mutex
	s = cooldown.NewFile(path, func(err error) {
		mu.Lock()
		defer mu.Unlock()
		*warnings = append(*warnings, err.Error())
		for _, text := range allowed {
			if strings.Contains(err.Error(), text) {
				return
			}
		}
		t.Error("warned:", err)
	})
	return s, warnings
}
func requireOneLine(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		require.False(t, unicode.IsControl(r) || r == '\u2028' || r == '\u2029', "%q in %q", r, text)
	}
}

// init1 is claude's first event.
const init1 = `{"type":"system","subtype":"init","session_id":"s1","model":"opus"}`
