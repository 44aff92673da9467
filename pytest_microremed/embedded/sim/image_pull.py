"""Getting a container's image onto the node, with the events and waiting states of a kubelet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_microremed.embedded.sim.back_off import BackOff
from pytest_microremed.embedded.sim.image_store import ImageStore
from pytest_microremed.embedded.sim.images import Image, ImageNotFoundError, InvalidReferenceError

if TYPE_CHECKING:
    from pytest_microremed.embedded.sim.container_worker import ContainerWorker

ERROR_SHOWN_S = 2.0
"""How long ErrImagePull shows before it becomes ImagePullBackOff."""


async def obtain(worker: ContainerWorker, images: ImageStore) -> Image | None:
    """Try as often as it takes; None if the container is to go meanwhile."""
    back_off = BackOff()
    while not worker.stopping:
        reference = worker.container.spec["image"]
        image = await _attempt(worker, images, reference)
        if image is not None:
            return image
        if worker.container.spec["image"] == reference and not worker.stopping:
            await worker.alarm.wait(back_off.take())
    return None


async def _attempt(worker: ContainerWorker, images: ImageStore, reference: str) -> Image | None:
    policy = worker.container.spec.get("imagePullPolicy")
    try:
        present = images.get(reference)
        if present and not images.needs_pull(reference, policy):
            worker.event("Normal", "Pulled", f'Container image "{reference}" already present on machine')
            return present
        if policy == "Never":
            message = f'Container image "{reference}" is not present with pull policy of Never'
            worker.wait_for("ErrImageNeverPull", message)
            worker.event("Warning", "ErrImageNeverPull", message)
            worker.event("Warning", "Failed", "Error: ErrImageNeverPull")
            return None
        worker.event("Normal", "Pulling", f'Pulling image "{reference}"')
        pulled = await images.pull(reference)
    except InvalidReferenceError:
        message = (
            f'Failed to apply default image tag "{reference}": couldn\'t parse image name "{reference}": '
            "invalid reference format"
        )
        worker.wait_for("InvalidImageName", message)
        worker.event("Warning", "InspectFailed", message)
        worker.event("Warning", "Failed", "Error: InvalidImageName")
        return None
    except ImageNotFoundError as error:
        await _tell_not_found(worker, reference, f"rpc error: code = NotFound desc = {error}")
        return None
    took = f"{pulled.seconds:.3g}s ({pulled.seconds:.3g}s including waiting)"
    size = pulled.image.profile.size
    worker.event("Normal", "Pulled", f'Successfully pulled image "{reference}" in {took}. Image size: {size} bytes.')
    return pulled.image


async def _tell_not_found(worker: ContainerWorker, reference: str, error: str) -> None:
    worker.wait_for("ErrImagePull", error)
    worker.event("Warning", "Failed", f'Failed to pull image "{reference}": {error}')
    worker.event("Warning", "Failed", "Error: ErrImagePull")
    await worker.alarm.wait(ERROR_SHOWN_S)
    if worker.container.spec["image"] == reference and not worker.stopping:
        message = f'Back-off pulling image "{reference}"'
        worker.wait_for("ImagePullBackOff", f"{message}: ErrImagePull: {error}")
        worker.event("Normal", "BackOff", message)
        worker.event("Warning", "Failed", "Error: ImagePullBackOff")
