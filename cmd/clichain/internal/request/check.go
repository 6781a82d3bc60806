package request

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/param"
)

// Check returns a usage error for a request that every backend would reject. The prompt may still be missing.
func Check(ctx context.Context, req clichain.Request) error {
	for _, name := range req.Options.AddDirs {
		if err := CheckDir(name); err != nil {
			return console.Usagef("--add-dir: %v", err)
		}
	}
	if err := CheckDir(req.Dir); err != nil && req.Dir != "" {
		return console.Usagef("--dir: %v", err)
	}
	for _, name := range req.Options.Images {
		if err := checkImage(name); err != nil {
			return console.Usagef("--image: %v", err)
		}
	}
	return CheckFields(ctx, req)
}

// CheckFields validates the fields of a request with a chain, whose only backend never answers.
func CheckFields(ctx context.Context, req clichain.Request) error {
	nobody := clichain.BackendFunc("nobody", func(context.Context, clichain.Request) (*clichain.Response, error) {
		return nil, &clichain.BackendError{Reason: clichain.ReasonExit}
	})
	req.Messages = append(slices.Clip(req.Messages), clichain.Message{Role: clichain.RoleUser, Content: "-"})
	req.Model, req.Session = "", "" // each backend validates them
	_, err := clichain.ChainOf([]clichain.Backend{nobody}, &clichain.ChainConfig{NoCooldown: true}).Complete(ctx, req)
	be, ok := errors.AsType[*clichain.BackendError](err)
	if !ok || !slices.Contains(console.UsageReasons, be.Reason) {
		return nil
	}
	flag := param.FlagOf(be.Option)
	if flag == param.Prompt { // the prompt is a placeholder
		flag = "--system"
	}
	shown := console.WithFlags(be).(*clichain.BackendError)
	return console.Usagef("%s: %s%s", flag, shown.Detail(), shown.BracketedHint())
}

// CheckDir returns an error unless name is a directory.
func CheckDir(name string) error {
	info, err := os.Stat(name)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no directory", name)
	}
	return err
}

// checkImage checks the type of a file, because the CLIs have no useful error for a file that is not an image.
func checkImage(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", name)
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	head, err := io.ReadAll(io.LimitReader(file, 512)) // enough to detect the type
	if err != nil {
		return err
	}
	if kind := http.DetectContentType(head); !strings.HasPrefix(kind, "image/") {
		return fmt.Errorf("%s is no image but %s: the CLIs support PNG, JPEG, GIF and WebP", name, kind)
	}
	return nil
}
