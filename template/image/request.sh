# photo.jpg is a picture of yours.
curl --data-binary @photo.jpg localhost:3000/color
# "green"
