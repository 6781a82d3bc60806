package serving

import (
	"fmt"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cache"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/spf13/pflag"
)

// answerCache has the flags of a cache of answers.
type answerCache struct {
	cfg      cache.Config
	maxBytes int
}

func (a *answerCache) register(flags *pflag.FlagSet) {
	flags.StringVar(&a.cfg.Dir, "cache", "", "`directory` for answers without access, which later batches use")
	flags.Func("cache-age", "`duration`: limit of the age of an answer in the cache (default 168h)",
		param.Into(&a.cfg.MaxAge, param.Duration))
	flags.Func("cache-bytes", "`number`: limit of the size of the cache (default 1073741824)",
		param.Into(&a.maxBytes, param.Count))
}

// check rejects limits of a missing cache.
func (a *answerCache) check(given func(flag string) bool) error {
	for _, flag := range []string{"cache-age", "cache-bytes"} {
		if a.cfg.Dir == "" && given(flag) {
			return console.Usagef("--%s: needs --cache", flag)
		}
	}
	return nil
}

// wrap opens the cache, and returns the function that adds it to the chain of these backends. Without a cache, the
// function returns the chain.
func (a *answerCache) wrap(backends []clichain.Backend) (func(clichain.Backend) clichain.Backend, error) {
	if a.cfg.Dir == "" {
		return func(chain clichain.Backend) clichain.Backend { return chain }, nil
	}
	cfg := a.cfg
	cfg.Scope, cfg.MaxBytes = scope(backends), int64(a.maxBytes)
	opened, err := cache.Open(cfg)
	if err != nil {
		return nil, console.Usagef("--cache: %v", err)
	}
	return opened.Backend, nil
}

// scope names the backends with their own models and efforts, in order: another order is another answer.
func scope(backends []clichain.Backend) string {
	var names []string
	for _, b := range backends {
		name := b.Name()
		if p, ok := b.(*clichain.Provider); ok {
			name = strings.TrimSpace(fmt.Sprintf("%s %s %s", name, p.Config().Model, p.Config().Effort))
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
