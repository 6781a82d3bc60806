package param

import "slices"

// Group is the group in which help texts and manual pages list a flag.
type Group string

// The groups of flags.
const (
	GroupRequest  Group = "Request"
	GroupBackends Group = "Backends"
	GroupLimits   Group = "Limits"
	GroupQueue    Group = "Queue"
	GroupServer   Group = "Server"
	GroupLog      Group = "Log"
	GroupOutput   Group = "Output"
)

// Groups are all groups, in the order in which help texts list them.
var Groups = []Group{GroupRequest, GroupBackends, GroupLimits, GroupQueue, GroupServer, GroupLog, GroupOutput}

// commandFlags are the names of the flags that commands declare in addition to Table.
var commandFlags = map[Group][]string{
	GroupRequest: {
		"in", "format", "id", "priority", "owner", "deadline", "idempotent", "permit", "max-access", "retry-failed",
		"retry-side-effects", "changed", "carry", "repos", "record",
	},
	GroupBackends: {"config", "profile", "cold", "cache", "probe", "ping", "refresh", "assume-isolated"},
	GroupLimits:   {"check-timeout", "jobs", "budget", "max-cost-usd", "grace", "wait-for", "cache-age", "cache-bytes"},
	GroupQueue: {
		"nats", "queue", "nats-creds", "nats-nkey", "nats-ca", "nats-cert", "nats-key", "nats-monitor", "store", "name",
		"all", "reason", "side-effects", "set", "batch", "yes", "drain", "for", "state",
		"ack-wait", "replicas", "max-deliveries", "max-result-age", "max-result-bytes", "id-prefix", "older-than",
	},
	GroupServer: {
		"caller", "max-depth", "listen", "token-file", "allow-origin", "model-alias", "default-model", "max-waiting",
		"strict", "health", "metrics-address",
	},
	GroupLog: {"since", "backend", "failed", "project", "history", "by", "verify"},
	GroupOutput: {
		"out", "check", "bad", "ordered", "limit", "dry-run", "quiet", "json", "yaml", "markdown", "fix-hints", "stream",
		"trace", "verbose", "hold", "apply", "patch", "branch",
		"wait", "once", "watch", "otlp", "log-json", "no-descriptions", "help", "version",
	},
}

// GroupOf returns the group of the flag with a name, or "" for a flag without a group.
func GroupOf(name string) Group {
	for _, f := range Table {
		if f.Name == name {
			return f.Group
		}
	}
	for group, names := range commandFlags {
		if slices.Contains(names, name) {
			return group
		}
	}
	return ""
}
