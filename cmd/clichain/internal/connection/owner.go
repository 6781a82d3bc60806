package connection

import (
	"errors"

	"github.com/clichain/clichain/cmd/clichain/internal/param"
	"github.com/clichain/clichain/jetstream"
	"github.com/spf13/pflag"
)

// RegisterOwner declares the flag for the owner of jobs.
func (f *NATSFlags) RegisterOwner(flags *pflag.FlagSet) {
	flags.Func("owner", "`name` of the owner of the jobs; owners take turns (default the NATS user)",
		param.Into(&f.owner, ParseOwner))
}

// ParseOwner parses the owner of jobs.
func ParseOwner(text string) (string, error) {
	if !jetstream.ValidOwner(text) {
		return "", errors.New(`an owner has 1 to 63 characters: a-z, 0-9, "-" and "_", the first a letter or a digit`)
	}
	return text, nil
}

// Owner returns the owner of jobs: the value of --owner, or the NATS user if it can be an owner. Empty: none.
func (f *NATSFlags) Owner() string {
	if f.owner != "" {
		return f.owner
	}
	user := f.getenv("NATS_USER")
	if servers, err := f.parseServers(); err == nil && servers[0].User != nil {
		var hasPassword bool
		if _, hasPassword = servers[0].User.Password(); !hasPassword { // the URL has a token, which is a secret
			return ""
		}
		user = servers[0].User.Username()
	}
	if !f.Given() || !jetstream.ValidOwner(user) {
		return ""
	}
	return user
}
