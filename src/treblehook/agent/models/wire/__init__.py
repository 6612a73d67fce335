"""A provider's wire lives here: our query becomes its request, its stream our reply, its error ours; no retry and no script may.

Everything here imports the model library and is itself imported by the first request only.
"""
