// Package jsapi adds to the JetStream client: classes of errors, waiting for a leader, and opening or creating
// streams.
package jsapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

// Error codes of the server that the client does not name.
const (
	errCodeAccountFull  js.ErrorCode = 10002
	errCodeNoPeers      js.ErrorCode = 10005 // too few servers, or none with enough storage
	errCodeNotAvailable js.ErrorCode = 10008 // there is no leader now
	errCodeNotLeader    js.ErrorCode = 10009
	errCodeServerFull   js.ErrorCode = 10023
	errCodeNoStorage    js.ErrorCode = 10047
	errCodeCreateFailed js.ErrorCode = 10049 // also while the server removes a stream of the same name
	errCodeReplicas     js.ErrorCode = 10074
	errCodeStreamFull   js.ErrorCode = 10077 // also for other failures of a store
)

// IsAny reports whether an error is one of the targets.
func IsAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// IsConflict reports whether a conditional write failed because of a stored message.
func IsConflict(err error) bool {
	api, ok := errors.AsType[*js.APIError](err)
	return ok && api.ErrorCode == js.JSErrCodeStreamWrongLastSequence
}

// IsFull reports whether a server refused a write because its storage, or the limit of an account or stream, is
// exhausted.
func IsFull(err error) bool {
	api, ok := errors.AsType[*js.APIError](err)
	if !ok {
		return false
	}
	switch api.ErrorCode {
	case errCodeAccountFull, errCodeServerFull, errCodeNoStorage:
		return true
	case errCodeStreamFull:
		return strings.Contains(api.Description, "maximum bytes")
	case errCodeNoPeers:
		return strings.Contains(api.Description, "insufficient storage")
	}
	return false
}

// isBusy reports whether the creation of a stream failed because the server has, or is removing, another stream of the
// same name.
func isBusy(err error) bool {
	api, ok := errors.AsType[*js.APIError](err)
	return errors.Is(err, js.ErrStreamNameAlreadyInUse) || ok && api.ErrorCode == errCodeCreateFailed
}

// tooFewServers reports whether a cluster has fewer servers than the requested replicas.
func tooFewServers(err error) bool {
	api, ok := errors.AsType[*js.APIError](err)
	return ok && !IsFull(err) && (api.ErrorCode == errCodeNoPeers || api.ErrorCode == errCodeReplicas)
}

func explained(err error) error {
	if IsAny(err, js.ErrJetStreamNotEnabled, js.ErrJetStreamNotEnabledForAccount, nats.ErrNoResponders) {
		return fmt.Errorf("%w: start the server with JetStream (nats-server -js)", err)
	}
	return err
}
