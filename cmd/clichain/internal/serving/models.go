package serving

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/cmd/clichain/internal/selection"
)

// addAlias adds an alias of the form name=model. The name ends at the first equals sign.
func (f *serveFlags) addAlias(text string) error {
	name, model, ok := strings.Cut(text, "=")
	switch name, model = strings.TrimSpace(name), strings.TrimSpace(model); {
	case !ok || name == "" || model == "":
		return errors.New("write NAME=MODEL, such as gpt-4o=claude/sonnet")
	case name == "clichain":
		return errors.New("the name clichain stands for all backends")
	case f.aliases[name] != "":
		return fmt.Errorf("%q has two models", name)
	}
	f.aliases[name] = model
	return nil
}

// parseMaxWaiting parses a limit of waiting requests. For the library, a negative number means none.
func parseMaxWaiting(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0, errors.New("write a whole number from 0 to 65535")
	}
	if n == 0 {
		return -1, nil
	}
	return int(n), nil
}

// listedModels returns the models that the CLIs list, as backend/model. The CLIs run at the same time.
func listedModels(ctx context.Context, providers selection.Providers, log *slog.Logger) []string {
	lists := make([][]string, len(providers))
	var running sync.WaitGroup
	for i, p := range providers {
		running.Go(func() {
			models, err := p.Models(ctx)
			if err != nil {
				log.Info("no list of models", "backend", p.Name(), "reason", call.AsError(p.Name(), err).Reason)
			}
			for _, m := range models {
				lists[i] = append(lists[i], p.Name()+"/"+m.Name)
			}
		})
	}
	running.Wait()
	return slices.Concat(lists...)
}
