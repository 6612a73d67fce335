"""The hook calls of outside agents come in here, over HTTP and over a unix socket; what they mean is the gateway's business."""
