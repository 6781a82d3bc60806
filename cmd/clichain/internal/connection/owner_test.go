package connection

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// The owner of jobs is that of the flag, else the name of a NATS user. It is never a token, which is a secret.
func TestOwnerOfJobs(t *testing.T) {
	for name, c := range map[string]struct {
		servers string
		env     map[string]string
		args    []string
		want    string
	}{
		"user in the URL":              {servers: "nats://alice:secret@host:4222", want: "alice"},
		"user in the environment":      {servers: "host", env: map[string]string{"NATS_USER": "bob"}, want: "bob"},
		"URL before the environment":   {servers: "nats://alice:x@host", env: map[string]string{"NATS_USER": "bob"}, want: "alice"},
		"token in the URL":             {servers: "nats://token@host", env: map[string]string{"NATS_USER": "bob"}},
		"user that cannot be an owner": {servers: "nats://Alice.Smith:x@host"},
		"user without a server":        {env: map[string]string{"NATS_USER": "bob"}},
		"flag before the user":         {servers: "nats://alice:x@host", args: []string{"--owner", "team-a"}, want: "team-a"},
		"flag without a server":        {args: []string{"--owner", "team-a"}, want: "team-a"},
		"server of the environment":    {env: map[string]string{"NATS_URL": "nats://alice:x@host"}, want: "alice"},
		"server that cannot be parsed": {servers: "nats://alice:x@", env: map[string]string{"NATS_USER": "bob"}, want: "bob"},
		"no user":                      {servers: "nats://host:4222"},
	} {
		t.Run(name, func(t *testing.T) {
			f := NATSFlags{Servers: c.servers, env: func(name string) string { return c.env[name] }}
			flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
			f.RegisterOwner(flags)
			require.NoError(t, flags.Parse(c.args))
			require.Equal(t, c.want, f.Owner())
		})
	}
	for _, hostile := range []string{"", "Alice", "a.b", "*", "a\x1b[2J"} {
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		(&NATSFlags{}).RegisterOwner(flags)
		require.ErrorContains(t, flags.Parse([]string{"--owner", hostile}), "an owner has 1 to 63 characters")
	}
}
