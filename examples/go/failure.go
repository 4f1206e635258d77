package main

import (
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

type violation struct {
	Field       string `json:"field"`
	Description string `json:"description"`
}

// callFailure is an error of Groundwire: a status, and what grpc-status-details-bin says about it.
type callFailure struct {
	Type       string            `json:"type"`
	Method     string            `json:"method"`
	Status     string            `json:"status"`
	Message    string            `json:"message"`
	Reason     string            `json:"reason"`
	Metadata   map[string]string `json:"metadata"`
	Violations []violation       `json:"violations"`

	code       codes.Code
	retryAfter *time.Duration
}

func failureFrom(method string, err error) *callFailure {
	called := status.Convert(err)
	failure := &callFailure{
		Type:       "error",
		Method:     method,
		Status:     code.Code_name[int32(called.Code())],
		Message:    called.Message(),
		Metadata:   map[string]string{},
		Violations: []violation{},
		code:       called.Code(),
	}
	for _, detail := range called.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			failure.Reason = detail.GetReason()
			for key, value := range detail.GetMetadata() {
				failure.Metadata[key] = value
			}
		case *errdetails.BadRequest:
			for _, broken := range detail.GetFieldViolations() {
				failure.Violations = append(failure.Violations, violation{broken.GetField(), broken.GetDescription()})
			}
		case *errdetails.RetryInfo:
			asked := detail.GetRetryDelay().AsDuration()
			failure.retryAfter = &asked
		}
	}
	return failure
}

func (failure *callFailure) Error() string {
	return fmt.Sprintf("%s: %s: %s", failure.Method, failure.Status, failure.Message)
}

// mayBeTriedAgain says whether another attempt makes sense. Busy servers say when to come back; RESOURCE_EXHAUSTED
// without that, such as an oversized message, stays so.
func (failure *callFailure) mayBeTriedAgain() bool {
	return failure.code == codes.Unavailable || (failure.code == codes.ResourceExhausted && failure.retryAfter != nil)
}
