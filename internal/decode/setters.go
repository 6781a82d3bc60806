package decode

import (
	"encoding/json"
	"math"
	"time"

	"github.com/tidwall/gjson"

	"github.com/clichain/clichain/internal/resettime"
)

// setters are the fields that EventRule.Set can fill. Numbers may come as
// JSON numbers or as text.
var setters = map[string]func(*Item, gjson.Result){
	"text":       func(e *Item, v gjson.Result) { e.Text = v.String() },
	"id":         func(e *Item, v gjson.Result) { e.ID = v.String() },
	"name":       func(e *Item, v gjson.Result) { e.Name = v.String() },
	"input":      func(e *Item, v gjson.Result) { e.Input = json.RawMessage(v.Raw) },
	"session":    func(e *Item, v gjson.Result) { e.Session = v.String() },
	"model":      func(e *Item, v gjson.Result) { e.Model = v.String() },
	"key_source": func(e *Item, v gjson.Result) { e.KeySource = v.String() },
	"trigger":    func(e *Item, v gjson.Result) { e.Trigger = v.String() },
	"pre_tokens": func(e *Item, v gjson.Result) { e.PreTokens = v.Int() },
	"code":       func(e *Item, v gjson.Result) { e.Code = v.String() },
	"message":    func(e *Item, v gjson.Result) { e.Message = v.String() },
	"status":     func(e *Item, v gjson.Result) { e.Status = int(v.Int()) },
	"try":        func(e *Item, v gjson.Result) { e.Try = int(v.Int()) },
	"delay_ms":   func(e *Item, v gjson.Result) { e.Delay = scaled(v, time.Millisecond) },
	"delay_s":    func(e *Item, v gjson.Result) { e.Delay = scaled(v, time.Second) },
	"reset_at":   func(e *Item, v gjson.Result) { e.RetryAfter = resettime.Epoch(v.Float()) },
	"failed":     func(e *Item, v gjson.Result) { e.Failed = v.Bool() || v.String() == "error" },
	"whole":      func(e *Item, v gjson.Result) { e.Whole = v.Bool() },
	"partial":    func(e *Item, v gjson.Result) { e.Partial = v.Bool() },

	"input_tokens":       func(e *Item, v gjson.Result) { e.Usage.InputTokens = v.Int() },
	"output_tokens":      func(e *Item, v gjson.Result) { e.Usage.OutputTokens = v.Int() },
	"cache_read_tokens":  func(e *Item, v gjson.Result) { e.Usage.CacheReadTokens = v.Int() },
	"cache_write_tokens": func(e *Item, v gjson.Result) { e.Usage.CacheWriteTokens = v.Int() },
	"reasoning_tokens":   func(e *Item, v gjson.Result) { e.Usage.ReasoningTokens = v.Int() },
	"turns":              func(e *Item, v gjson.Result) { e.Usage.Turns = v.Int() },
	"cost_usd":           func(e *Item, v gjson.Result) { e.Usage.CostUSD = new(v.Float()) },
}

// scaled turns a number of units into a duration; nonsense becomes zero.
func scaled(v gjson.Result, unit time.Duration) time.Duration {
	d := v.Float() * float64(unit)
	if !(d > 0 && d < math.MaxInt64) {
		return 0
	}
	return time.Duration(d)
}
