package jsapi

import (
	"context"
	"encoding/json"
	"math"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
)

// CountSubjects returns how many subjects of a stream match a filter. Unlike Stream.Info, it does not transfer them.
func CountSubjects(ctx context.Context, nc *nats.Conn, stream, filter string) (int, error) {
	request, _ := json.Marshal(map[string]any{"subjects_filter": filter, "offset": math.MaxInt32}) // cannot fail
	msg, err := nc.RequestWithContext(ctx, "$JS.API.STREAM.INFO."+stream, request)
	if err != nil {
		return 0, err
	}
	var response struct {
		Error *js.APIError `json:"error"`
		Total int          `json:"total"`
	}
	if err := json.Unmarshal(msg.Data, &response); err != nil {
		return 0, err
	}
	if response.Error != nil {
		if response.Error.ErrorCode == js.JSErrCodeStreamNotFound {
			return 0, js.ErrStreamNotFound
		}
		return 0, response.Error
	}
	return response.Total, nil
}
