"""What a hook may call lives here: the four interfaces of its world, granted or not; what the host does for them may not.

All four are always there. Where a hook was not granted one, it answers so: that is no error of the link (murmur.md 3.2, 3.7).
"""
